/** A figure of many rounds. */
export interface Spread {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Median and quartiles. */
export function spread(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (part: number) => {
    const place = (sorted.length - 1) * part
    const [below = Number.NaN, above = below] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
    return below + (above - below) * (place - Math.floor(place))
  }
  return { median: at(0.5), low: at(0.25), high: at(0.75) }
}

/** Of one row against another, round by round: what disturbed a round disturbed both. */
export function ratio(values: readonly number[], others: readonly number[]): Spread {
  return spread(values.map((value, round) => value / (others[round] ?? Number.NaN)))
}

/** `171 (168-175)`. */
export function show({ median, low, high }: Spread, digits = 0): string {
  return `${number(median, digits)} (${number(low, digits)}-${number(high, digits)})`
}

/** `12,345.6`; an empty cell where there is no figure. */
export function number(value: number, digits = 0): string {
  if (Number.isNaN(value)) return ''
  return value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}

/** A Markdown table whose columns stand under one another. */
export function table(rows: readonly Readonly<Record<string, string>>[]): string {
  const names = Object.keys(rows[0] ?? {})
  const widths = names.map((name) => Math.max(name.length, ...rows.map((row) => (row[name] ?? '').length)))
  const line = (cells: readonly string[]) => `| ${cells.map((cell, n) => cell.padEnd(widths[n] ?? 0)).join(' | ')} |`
  return [
    line(names),
    line(widths.map((width) => '-'.repeat(width))),
    ...rows.map((row) => line(names.map((name) => row[name] ?? ''))),
  ].join('\n')
}
