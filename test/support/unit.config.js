/** `npm run test:unit`: the suites that need no Redis, no port, no browser and no build. */
const path = require('node:path')
const { globalSetup, globalTeardown, ...config } = require('../../jest.config.js')

module.exports = {
  ...config,
  rootDir: path.join(__dirname, '../..'),
  testMatch: ['<rootDir>/test/unit/*.test.ts'],
  maxWorkers: 2,
}
