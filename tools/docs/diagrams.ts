/** docs/images: the sequence diagrams of docs/diagrams as pictures, one for light pages and one for dark ones. */

/** Colours of each scheme. */
export const PALETTES = {
  light: {
    text: '#1f2328',
    line: '#59636e',
    box: '#f6f8fa',
    note: '#fff8c5',
    frame: '#8c959f',
    accent: '#0550ae',
    page: '#ffffff',
  },
  dark: {
    text: '#e6edf3',
    line: '#9198a1',
    box: '#21262d',
    note: '#3a3000',
    frame: '#6e7681',
    accent: '#79c0ff',
    page: '#0d1117',
  },
}
/** A line of a sequence diagram, as far as the documentation uses Mermaid. */
type Row =
  | { kind: 'arrow'; from: string; to: string; text: string; isDashed: boolean }
  | { kind: 'note'; over: string; text: string }
  | { kind: 'open'; word: string; text: string }
  | { kind: 'else'; text: string }
  | { kind: 'end' }

/** @throws {Error} a line that cannot be drawn */
function parseDiagram(source: string) {
  const people: { name: string; title: string }[] = []
  const rows: Row[] = []
  for (const line of source.split('\n').map((text) => text.trim())) {
    if (line === '' || line === 'sequenceDiagram' || line === 'autonumber') continue
    const [, name, title] = /^participant (\w+) as (.+)$/.exec(line) ?? []
    if (name && title) people.push({ name, title })
    else rows.push(rowOf(line))
  }
  return { people, rows }
}

function rowOf(line: string): Row {
  const [, from, shaft, to, said = ''] = /^(\w+)(-?->>)(\w+): (.+)$/.exec(line) ?? []
  if (from && to) return { kind: 'arrow', from, to, text: said, isDashed: shaft === '-->>' }
  const [, over, noted = ''] = /^Note over (\w+): (.+)$/.exec(line) ?? []
  if (over) return { kind: 'note', over, text: noted }
  const [, word, opened = ''] = /^(alt|opt|loop|else) (.+)$/.exec(line) ?? []
  if (word) return word === 'else' ? { kind: 'else', text: opened } : { kind: 'open', word, text: opened }
  if (line === 'end') return { kind: 'end' }
  throw new Error(`docs/diagrams: this cannot be drawn: ${line}`)
}

type Palette = (typeof PALETTES)['light']

const [COLUMN, HEAD, STEP, MARGIN] = [196, 44, 48, 20]
const FONT = "font-family='system-ui, sans-serif' font-size='13'"

const escaped = (text: string) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;')

const label = (x: number, y: number, text: string, color: string, more = '') =>
  `<text x='${x}' y='${y}' fill='${color}' ${more}>${escaped(text)}</text>`

/** An outline in the colour of the page keeps text readable on lines. */
const halo = ({ page }: Palette) => `stroke='${page}' stroke-width='4' paint-order='stroke'`

/** @returns the picture of one diagram in one scheme, as SVG */
export function sequencePicture(source: string, palette: Palette): string {
  const { people, rows } = parseDiagram(source)
  const xOf = (name: string) => MARGIN + COLUMN / 2 + people.findIndex((one) => one.name === name) * COLUMN
  const width = MARGIN * 2 + COLUMN * people.length
  let y = MARGIN + HEAD
  let number = 0
  const parts: string[] = []
  const open: { top: number; depth: number }[] = []
  for (const row of rows) {
    y += STEP
    if (row.kind === 'arrow') {
      number += 1
      parts.push(arrow(row, number, xOf(row.from), xOf(row.to), y, palette))
    } else if (row.kind === 'note') parts.push(note(row, xOf(row.over), y, width, palette))
    else if (row.kind === 'open') {
      parts.push(caption(row.word, row.text, MARGIN + 8 * open.length, y, palette))
      open.push({ top: y - 24, depth: open.length })
    } else if (row.kind === 'else') {
      const left = MARGIN + 8 * (open.length - 1)
      parts.push(`<path d='M${left} ${y - 24}H${width - left}' stroke='${palette.frame}' stroke-dasharray='6 4'/>`)
      parts.push(caption('else', row.text, left, y, palette))
    } else {
      y -= STEP - 12
      const { top, depth } = open.pop() ?? { top: y, depth: 0 }
      const left = MARGIN + 8 * depth
      parts.push(
        `<rect x='${left}' y='${top}' width='${width - 2 * left}' height='${y - top}' rx='4' fill='none' stroke='${palette.frame}'/>`,
      )
      y -= 12
    }
  }
  const bottom = y + 30
  const heads = people.map(({ name, title }) => head(xOf(name), title, bottom, palette))
  return picture(width, bottom + MARGIN, [...heads, ...parts])
}

const picture = (width: number, height: number, parts: readonly string[]) =>
  `<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 ${width} ${height}' width='${width}' height='${height}' ${FONT}>\n${parts.join('\n')}\n</svg>\n`

const box = (x: number, y: number, width: number, height: number, palette: Palette) =>
  `<rect x='${x}' y='${y}' width='${width}' height='${height}' rx='6' fill='${palette.box}' stroke='${palette.line}'/>`

const head = (x: number, title: string, bottom: number, palette: Palette) =>
  [
    `<path d='M${x} ${MARGIN + HEAD}V${bottom}' stroke='${palette.frame}' stroke-dasharray='2 4'/>`,
    box(x - COLUMN / 2 + 10, MARGIN, COLUMN - 20, HEAD - 8, palette),
    label(x, MARGIN + 23, title, palette.text, "text-anchor='middle' font-weight='600'"),
  ].join('\n')

function arrow(
  { text, isDashed }: Extract<Row, { kind: 'arrow' }>,
  number: number,
  from: number,
  to: number,
  y: number,
  palette: Palette,
): string {
  const toRight = to > from
  const [start, end] = toRight ? [from + 12, to - 2] : [from - 12, to + 2]
  const tip = toRight ? end - 8 : end + 8
  const dash = isDashed ? " stroke-dasharray='6 4'" : ''
  return [
    `<path d='M${start} ${y}H${end}' stroke='${palette.line}' stroke-width='1.5'${dash}/>`,
    `<path d='M${end} ${y}L${tip} ${y - 5}V${y + 5}Z' fill='${palette.line}'/>`,
    `<circle cx='${from}' cy='${y}' r='11' fill='${palette.accent}'/>`,
    label(from, y + 4, String(number), palette.box, "text-anchor='middle' font-size='12' font-weight='600'"),
    label(Math.min(start, end) + 6, y - 14, text, palette.text, halo(palette)),
  ].join('\n')
}

function note(
  { text }: Extract<Row, { kind: 'note' }>,
  x: number,
  y: number,
  pictureWidth: number,
  palette: Palette,
): string {
  const width = text.length * 7.2 + 20
  const left = Math.min(Math.max(x - width / 2, 4), pictureWidth - width - 4)
  return [
    `<rect x='${left}' y='${y - 20}' width='${width}' height='28' rx='4' fill='${palette.note}' stroke='${palette.frame}'/>`,
    label(left + width / 2, y - 2, text, palette.text, "text-anchor='middle'"),
  ].join('\n')
}

const caption = (word: string, text: string, x: number, y: number, palette: Palette) =>
  label(x + 10, y - 4, `${word}: ${text}`, palette.accent, "font-weight='600'")
