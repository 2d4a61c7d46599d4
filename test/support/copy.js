/** Copies the package with its tests, for programs that change it before they run them. */
const { cpSync, mkdtempSync, readdirSync, symlinkSync } = require('node:fs')
const { tmpdir } = require('node:os')
const path = require('node:path')

const root = path.join(__dirname, '..', '..')

/** @returns the folder of the copy, which shares node_modules with the original */
function makeCopy(prefix) {
  const folder = mkdtempSync(path.join(tmpdir(), prefix))
  const isPart = (name) => !['.git', 'node_modules', 'coverage'].includes(name)
  for (const part of readdirSync(root).filter(isPart)) {
    cpSync(path.join(root, part), path.join(folder, part), { recursive: true })
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'dir')
  return folder
}

module.exports = { makeCopy, root }
