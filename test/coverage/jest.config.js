const path = require('node:path')
const config = require('../../jest.config.js')

const rootDir = path.join(__dirname, '..', '..')

/** Like the usual one, in the copy whose sources count what is reached. */
module.exports = {
  ...config,
  rootDir,
  cacheDirectory: path.join(rootDir, 'coverage', 'jest'),
  testEnvironment: path.join(__dirname, 'environment.js'),
  transform: { '/lib/.+\\.ts$': path.join(__dirname, 'built.js'), ...config.transform },
}
