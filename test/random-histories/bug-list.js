/**
 * Deliberate bugs that the checker must find. `find` stands in `file` (below lib/) exactly once; `replace` stands there instead, or nothing.
 * `also` has further changes. `breaks` names the promises (or how they begin) of which one must be seen broken: a bug that breaks something
 * else has not been found.
 */
module.exports = [
  {
    name: 'what is read in one turn goes to the wrong readers',
    file: 'storage/redis-kv.ts',
    find: 'return values.slice(from, from + keys.length)',
    replace: 'return values.slice(0, keys.length)',
    breaks: ['I3 right person', 'I3 right data'],
  },
  {
    name: 'an open breaker stays open',
    file: 'remote/breaker.ts',
    find: 'if (this.#pauseMs() === 0) this.probe().catch(() => {})',
    breaks: ['I9'],
  },
  {
    name: 'a connection to Redis that has gone silent is kept',
    file: 'storage/redis-guard.ts',
    find: 'if (this.#silences >= MAX_SILENCES) this.#server.cut?.()',
    breaks: ['I9'],
  },
  {
    name: 'the mark of a logout is not looked at',
    file: 'web/context.ts',
    find: 'this.mark = cookies.mark.read(readCookie(req, config.cookies.logout))',
    replace: 'this.mark = undefined',
    breaks: ['I5 logout is final'],
  },
  {
    name: 'a logout is not told to the SSO system',
    file: 'web/flows/log-out.ts',
    find: ': await client.logout({ sid, ipa, uas })',
    replace: ': { err: undefined }',
    breaks: ['I5'],
  },
  {
    name: 'the grace has no end',
    file: 'web/flows/check.ts',
    find: 'return ageOf(login.checkedAt, site.now()) < recheckSeconds + graceSeconds',
    replace: 'return true',
    breaks: ['I4 an end is noticed'],
  },
  {
    name: 'a secret is stored as it is',
    file: 'storage/records.ts',
    find: 'return seal(JSON.stringify(secrets), this.#keys())',
    replace: 'return JSON.stringify(secrets)',
    also: [{ find: 'const text = unseal(sealed, this.#keys())', replace: 'const text = sealed' }],
    breaks: ['I8'],
  },
  {
    name: 'an end of a session is not believed',
    file: 'decide/status-check.ts',
    find: "if (answer.sts === 'terminated') return { action: 'over', reason: 'terminated' }",
    replace: "if (answer.sts === 'terminated') return { action: 'keep' }",
    breaks: ['I4 an end is noticed'],
  },
  {
    name: 'kept logouts are not retried',
    file: 'web/flows/logout-timer.ts',
    find: 'this.#timer = setTimeout(() => this.#begin(), ms * (0.75 + Math.random() / 2)).unref()',
    breaks: ['I5 logouts arrive'],
  },
]
