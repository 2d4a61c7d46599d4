/** A site's logger that adds its lines, of both levels, to a list. */
export function loggerTo(lines: string[]) {
  const add = (line: string) => void lines.push(line)
  return { warn: add, info: add }
}
