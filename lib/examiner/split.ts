/** Splits a text. The type of the list says that it has a first part. */
export function splitText(text: string, separator: string): [string, ...string[]] {
  const end = text.indexOf(separator)
  if (end < 0) return [text]
  return [text.slice(0, end), ...text.slice(end + separator.length).split(separator)]
}
