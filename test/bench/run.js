/** Runs a program of this folder without a build of it: `node test/bench/run.js warm --quick`. */
const { exitWith } = require('../support/typescript.js')

const PROGRAMS = ['warm', 'flow', 'scale', 'weight', 'emulator', 'path']
const [, , program, ...args] = process.argv
if (!PROGRAMS.includes(program)) {
  console.error(`usage: node test/bench/run.js ${PROGRAMS.join('|')} [--quick] [--rounds n] [--only row,row]`)
  process.exit(2)
}
exitWith(require(`./${program}.ts`).main(args))
