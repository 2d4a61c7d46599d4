/** Runs a program of this folder without a build of it: `node test/bench/run.js warm --quick`. */
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

const [, , program, ...args] = process.argv
if (!['warm', 'flow', 'scale', 'weight', 'emulator', 'path'].includes(program)) {
  console.error(
    'usage: node test/bench/run.js warm|flow|scale|weight|emulator|path [--quick] [--rounds n] [--only row,row] [--json file]',
  )
  process.exit(2)
}
require(path.join(__dirname, `${program}.ts`))
  .main(args)
  .then(
    () => process.exit(),
    (error) => {
      console.error(error)
      process.exit(1)
    },
  )
