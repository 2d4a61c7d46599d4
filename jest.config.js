/** Tests run the TypeScript sources through swc; only tests of the package's entry points use dist. */
module.exports = {
  testEnvironment: '<rootDir>/test/support/environment.js',
  roots: ['<rootDir>/test'],
  testMatch: ['**/*.test.ts'],
  globalSetup: '<rootDir>/test/support/global-setup.ts',
  globalTeardown: '<rootDir>/test/support/global-teardown.ts',
  setupFiles: ['<rootDir>/test/support/quiet.ts', '<rootDir>/test/support/patient.ts'],
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      { jsc: { parser: { syntax: 'typescript' }, target: 'es2022' }, module: { type: 'commonjs' } },
    ],
  },
  // or Jest changes objects that Node.js and all suites of a process share
  testEnvironmentOptions: { globalsCleanup: 'off' },
  // zod's messages in fifty languages, which each suite would load and none reads
  moduleNameMapper: { '^\\.\\./locales/index\\.cjs$': '<rootDir>/node_modules/zod/v4/locales/en.cjs' },
  testTimeout: 60_000,
  maxWorkers: 4, // of two cores: many suites wait for clocks
  testSequencer: '<rootDir>/test/support/sequencer.js',
  maxConcurrency: 8,
  workerGracefulExitTimeout: 20_000, // a busy machine is slow to end a process
}
