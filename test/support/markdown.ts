/** What the tests and programs of this folder need to know of Markdown. */

/** A block of code with its language, and what stands before it. */
export interface Block {
  readonly language: string
  readonly code: string
  /** Text of an HTML comment on the line before, if there is one. */
  readonly note: string | undefined
  /** The file that the last line of text before it names. */
  readonly file: string | undefined
  readonly line: number
}

const FENCE = /(?:<!-- (.+?) -->\n\n?)?^( *)```([\w.+-]*)[^\n]*\n([\s\S]*?)^\2```$/gm

/** Every fenced block, those in lists too. */
export function blocksOf(text: string): Block[] {
  return [...text.matchAll(FENCE)].map(({ 1: note, 2: indent = '', 3: language = '', 4: code = '', index }) => ({
    note,
    file: /.*$/.exec(text.slice(0, index).trimEnd())?.[0].match(/`([\w.-]+\.[cm]?[jt]sx?)`/)?.[1],
    language,
    code: code.replace(new RegExp(`^${indent}`, 'gm'), ''),
    line: text.slice(0, index).split('\n').length,
  }))
}

/** The blocks below a heading such as `## Install`, up to the next one of its level. */
export function blocksBelow(text: string, heading: string): Block[] {
  const sections = text.split(new RegExp(`^(?=#{2,${heading.indexOf(' ')}} )`, 'm'))
  return blocksOf(sections.find((section) => section.startsWith(`${heading}\n`)) ?? '')
}

/** The text without what stands in blocks of code. */
export const proseOf = (text: string) => text.replace(FENCE, '')

/** Headings with their anchors, as GitHub makes them: a second one of the same words gets a number. */
export function headingsOf(text: string): { level: number; title: string; anchor: string }[] {
  const seen = new Map<string, number>()
  return [...proseOf(text).matchAll(/^(#+) (.+)$/gm)].map(([, marks = '', title = '']) => {
    const slug = title
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .toLowerCase()
      .replace(/[^\p{L}\p{N}_\- ]/gu, '')
      .replaceAll(' ', '-')
    const count = seen.get(slug) ?? 0
    seen.set(slug, count + 1)
    return { level: marks.length, title, anchor: count === 0 ? slug : `${slug}-${count}` }
  })
}

/** Every place that a link can lead to: headings, and anchors of HTML. */
export const anchorsOf = (text: string) =>
  new Set([
    ...headingsOf(text).map(({ anchor }) => anchor),
    ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id = '']) => id),
  ])
