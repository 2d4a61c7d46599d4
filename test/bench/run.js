/** Runs a program of this folder without a build of it: `node test/bench/run.js warm --quick`. */
const { exitWith } = require('../support/typescript.js')

const [, , program, ...args] = process.argv
if (!['warm', 'flow', 'scale', 'weight', 'emulator', 'path'].includes(program)) {
  console.error(
    'usage: node test/bench/run.js warm|flow|scale|weight|emulator|path [--quick] [--rounds n] [--only row,row]',
  )
  process.exit(2)
}
exitWith(require(`./${program}.ts`).main(args))
