/** What a run has come to: the score, and of what survived, what nobody has named in equal.js. */

const LIVING = ['Survived', 'NoCoverage']
const CAUGHT = ['Killed', 'Timeout']
const onOneLine = (text) => text.replace(/\s+/g, ' ').trim()

/** A mutant in words: the line that it begins in, what stood there, and what stands there now. */
function describe(file, source, { location, replacement, status }) {
  const { start, end } = location
  const lines = source.split('\n').slice(start.line - 1, end.line)
  const [line] = lines
  lines[lines.length - 1] = lines.at(-1).slice(0, end.column - 1)
  lines[0] = lines[0].slice(start.column - 1)
  const was = onOneLine(lines.join('\n'))
  return {
    file,
    at: start.line,
    line: line.trim(),
    was,
    becomes: onOneLine(replacement),
    isReached: status !== 'NoCoverage',
  }
}

/** @returns mutants by file, from the report that Stryker keeps */
function mutantsOf({ files }) {
  return Object.entries(files).map(([file, { source, mutants }]) => ({
    file,
    caught: mutants.filter(({ status }) => CAUGHT.includes(status)).length,
    living: mutants.filter(({ status }) => LIVING.includes(status)).map((mutant) => describe(file, source, mutant)),
  }))
}

/** An entry of equal.js names the mutants of a line, or those of them that become `becomes`. */
const isNamed = (mutant, names) =>
  names.some(
    ({ file, line, becomes }) =>
      mutant.file.endsWith(file) &&
      mutant.line.includes(line) &&
      (becomes === undefined || [becomes].flat().includes(mutant.becomes)),
  )

/** @returns lines to print, the score in per cent, and how many are neither caught nor named */
function judge(report, names) {
  const files = mutantsOf(report)
  const sum = (numbers) => numbers.reduce((all, one) => all + one, 0)
  const caught = sum(files.map((one) => one.caught))
  const living = files.flatMap((one) => one.living)
  const unnamed = living.filter((mutant) => !isNamed(mutant, names))
  const lines = unnamed.map(
    ({ file, at, line, was, becomes, isReached }) =>
      `${isReached ? 'survived' : 'not reached'}  ${file}:${at}  ${was}  =>  ${becomes}\n    ${line}`,
  )
  return { lines, caught, all: caught + living.length, named: living.length - unnamed.length, unnamed: unnamed.length }
}

/** The report without what survived. */
function withoutLiving(report) {
  const files = Object.entries(report.files).map(([file, { mutants, ...rest }]) => {
    return [file, { ...rest, mutants: mutants.filter(({ status }) => !LIVING.includes(status)) }]
  })
  return { ...report, files: Object.fromEntries(files) }
}

module.exports = { judge, withoutLiving }
