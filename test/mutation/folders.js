const suites = (folder, names) => names.split(' ').map((name) => `${folder}/${name}`)

/** The folders whose code is mutated, and for each the suites that notice a mutant within seconds, by folder or by name. */
module.exports = {
  protocol: { mutate: ['lib/protocol/*.ts'], suites: ['protocol'] },
  decide: { mutate: ['lib/decide/*.ts'], suites: ['decide'] },
  storage: {
    mutate: ['lib/storage/*.ts', 'lib/deadline.ts'],
    suites: [
      'deadline',
      ...suites('storage', 'contract guard hashes lists logouts-and-logins masters opening outage records seal'),
    ],
  },
  platform: {
    mutate: ['lib/emulator/platform/*.ts'],
    suites: suites('emulator', 'calls controls machine rules/in-process scale world'),
  },
  session: {
    mutate: ['lib/web/session/*.ts'],
    suites: suites('web', 'session session-moves session-outage session-store session-surroundings'),
  },
  remote: {
    mutate: ['lib/remote/*.ts'],
    suites: [
      ...suites('remote', 'circuit client-keys front-channel http outages parts platform-api platform-rules'),
      ...suites('remote', 'platform-time platform-types service-token sso2 sso2-calls ticket'),
    ],
  },
}
