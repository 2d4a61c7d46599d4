/**
 * The folders whose code is mutated, and for each the suites that hold it: those that notice a mutant within seconds, by folder or by
 * name.
 */
module.exports = {
  protocol: { mutate: ['lib/protocol/*.ts'], suites: ['protocol'] },
  decide: { mutate: ['lib/decide/*.ts'], suites: ['decide'] },
  platform: {
    mutate: ['lib/emulator/platform/*.ts'],
    suites: ['calls', 'machine', 'conformance', 'controls', 'faults', 'hostile', 'options'].map(
      (name) => `emulator/${name}`,
    ),
  },
  session: {
    mutate: ['lib/web/session/*.ts'],
    suites: ['web/session', 'web/session-surroundings', 'web/session-outage'],
  },
  storage: {
    mutate: ['lib/storage/*.ts'],
    suites: ['lists', 'logouts-and-logins', 'outage', 'records', 'seal'].map((name) => `storage/${name}`),
  },
  remote: {
    mutate: ['lib/remote/*.ts'],
    suites: [
      ...['circuit', 'client-keys', 'platform-api', 'platform-rules', 'platform-time', 'platform-types'],
      ...['service-token', 'sso2', 'ticket'],
    ].map((name) => `remote/${name}`),
  },
}
