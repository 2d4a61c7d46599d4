/** The project's own, for the suites that notice a change within seconds. */
const path = require('node:path')
const config = require('../../jest.config.js')

const roots = (process.env.MUTATION_SUITES ?? 'unit').split(',').map((name) => `<rootDir>/test/${name}`)
const { testSequencer, ...rest } = config
module.exports = {
  ...rest,
  rootDir: path.join(__dirname, '../..'),
  roots,
  testEnvironment: path.join(__dirname, '../../test/support/environment.js'),
  maxWorkers: 1,
}
