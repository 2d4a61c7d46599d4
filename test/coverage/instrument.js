/** Puts counters of branches, statements and functions into the sources, and compiles them to where the package is built. */
const { readFileSync, readdirSync, writeFileSync } = require('node:fs')
const path = require('node:path')
const { createInstrumenter, defaultOpts } = require('istanbul-lib-instrument')
const ts = require('typescript')

const instrumenter = createInstrumenter({
  coverageGlobalScope: 'globalThis',
  coverageGlobalScopeFunc: false, // a page's Content-Security-Policy and Node's own flag forbid eval
  parserPlugins: [...defaultOpts.parserPlugins, 'typescript'],
})

const { ES2022 } = ts.ScriptTarget
const compilerOptions = { target: ES2022, module: ts.ModuleKind.Node16, esModuleInterop: true, isolatedModules: true }

/** As the build does; the name says that it is CommonJS, without a look at package.json. */
const compile = (code) => ts.transpileModule(code, { fileName: 'module.cts', compilerOptions }).outputText

/** Where everything stands is ten times as long as the code, and known here. */
const withoutPlaces = (code, { s, f, b }) =>
  code.replace(/(?<=var coverageData=).*?(?=;var coverage=)/s, `{hash,...${JSON.stringify({ s, f, b })}}`)

/** @returns the counters of every file of lib, at zero, by its path */
function instrument(folder) {
  // a process that is not Jest's keeps its counters itself
  const keeper = `globalThis.__coverage__||require(${JSON.stringify(path.join(folder, 'test/coverage/keep.js'))});`
  const counters = {}
  const lib = path.join(folder, 'lib')
  for (const name of readdirSync(lib, { recursive: true })) {
    if (!name.endsWith('.ts') || name.endsWith('.d.ts')) continue
    const file = path.join(lib, name)
    const counted = instrumenter.instrumentSync(readFileSync(file, 'utf8'), file)
    counters[file] = instrumenter.lastFileCoverage()
    const code = compile(withoutPlaces(counted, counters[file]))
    writeFileSync(path.join(folder, 'dist', name.replace(/ts$/, 'js')), code.replace('"use strict";', `$&${keeper}`))
  }
  return counters
}

module.exports = { instrument }
