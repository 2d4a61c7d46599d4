/** Packs what is built, as it would be published. */
const { execFileSync } = require('node:child_process')
const path = require('node:path')

const root = path.join(__dirname, '..', '..')

/**
 * @param {string} folder where the packed file goes
 * @returns {{ file: string, entries: number, bytes: number }}
 */
function pack(folder) {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder]
  const stdio = ['ignore', 'pipe', 'ignore']
  const [{ filename, entryCount, size }] = JSON.parse(execFileSync('npm', args, { cwd: root, encoding: 'utf8', stdio }))
  return { file: path.join(folder, filename), entries: entryCount, bytes: size }
}

module.exports = { pack }
