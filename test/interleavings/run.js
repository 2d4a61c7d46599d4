/** Runs main.ts without a build; see the head of it. */
const { readFileSync } = require('node:fs')
const path = require('node:path')
const { transformSync } = require('@swc/core')

const options = {
  jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
  module: { type: 'commonjs' },
  isModule: true,
  swcrc: false,
}

require.extensions['.ts'] = (module, file) => {
  module._compile(transformSync(readFileSync(file, 'utf8'), { ...options, filename: file }).code, file)
}

require(path.join(__dirname, 'main.ts'))
