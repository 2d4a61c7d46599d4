/** Changes texts of the package's sources, and makes of them what `npm run build` makes. */
const { readFileSync } = require('node:fs')
const path = require('node:path')
const { transformSync } = require('@swc/core')

/** A source as the built package has it: sites in processes of their own run from there. */
function compile(source) {
  const jsc = { parser: { syntax: 'typescript' }, target: 'es2022' }
  return transformSync(source, { jsc, module: { type: 'commonjs' }, isModule: true, swcrc: false }).code
}

/** What a weakening makes of the files of `lib` that it changes, by their names; or why it means nothing any more. */
function weaken(lib, weakening) {
  const weakened = new Map()
  for (const { file = weakening.file, find, replace = '' } of [weakening, ...(weakening.also ?? [])]) {
    const source = weakened.get(file) ?? readFileSync(path.join(lib, file), 'utf8')
    const parts = source.split(find)
    if (parts.length !== 2) return `the text stands in ${file} ${parts.length - 1} times`
    weakened.set(file, parts.join(replace))
  }
  return weakened
}

module.exports = { compile, weaken }
