/** Adds up what every suite and process has reached, and prints it. */
const { readdirSync, readFileSync } = require('node:fs')
const path = require('node:path')
const { createCoverageMap } = require('istanbul-lib-coverage')
const { createContext } = require('istanbul-lib-report')
const { create } = require('istanbul-reports')

/** Percent of the branches of lib. */
const GOAL = 95

/** @returns the counters of `zero` with what the files of a folder have counted */
function addUp(zero, folder) {
  const map = createCoverageMap(structuredClone(zero))
  for (const name of readdirSync(folder)) {
    const counts = JSON.parse(readFileSync(path.join(folder, name), 'utf8'))
    for (const [file, count] of Object.entries(counts)) map.merge({ [file]: { ...zero[file], ...count } })
  }
  return map
}

/** Each branch that nothing has taken: its line, its kind, and which of the ways it is, the first being 1. */
function untaken(coverage) {
  return Object.entries(coverage.b).flatMap(([id, counts]) => {
    const { type, loc, locations } = coverage.branchMap[id]
    return counts.flatMap((count, way) => {
      const line = locations[way]?.start.line ?? loc.start.line
      return count === 0 ? [`${line} ${type} ${way + 1}/${counts.length}`] : []
    })
  })
}

/** Prints the table and what is left. @returns true when enough was reached */
function report(map, folder) {
  const context = createContext({ coverageMap: map, dir: path.join(folder, 'coverage') })
  for (const kind of ['text', 'html']) create(kind).execute(context)
  const files = map.files().map((file) => map.fileCoverageFor(file))
  for (const file of files) {
    const { pct } = file.toSummary().branches
    const left = untaken(file)
    if (left.length > 0) console.log(`${path.relative(folder, file.path)}: ${pct} %; not taken: ${left.join(', ')}`)
  }
  const { pct, covered, total } = map.getCoverageSummary().branches
  const below = files
    .filter((file) => file.toSummary().branches.pct < GOAL)
    .map((file) => path.relative(folder, file.path))
  console.log(`${covered} of ${total} branches were taken: ${pct} %`)
  console.log(`${below.length} files below ${GOAL} %: ${below.join(', ') || 'none'}`)
  return pct >= GOAL
}

module.exports = { addUp, report }
