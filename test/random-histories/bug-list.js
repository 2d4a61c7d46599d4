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
    name: 'a compare-and-set does not compare',
    file: 'storage/redis-scripts.ts',
    find: "if (ARGV[1] == 'none' and current) or (ARGV[1] == 'value' and current ~= ARGV[2])\n  or",
    replace: 'if false\n  or',
    breaks: ['I5', 'I7'],
  },
  {
    name: 'the mark of a logout that is not confirmed is not looked at',
    file: 'web/request-context.ts',
    find: 'logoutCookie: readLogoutCookie(readCookie(req, config.cookies.logout), macKeys, now()),',
    replace: 'logoutCookie: undefined,',
    breaks: ['I5 logout is final'],
  },
  {
    name: 'a logout is not told to the SSO system',
    file: 'web/actions/finish-logout.ts',
    find: 'aid === undefined ? await client.logout({ sid, ipa, uas }) :',
    replace: 'aid === undefined ? { err: undefined } :',
    breaks: ['I5'],
  },
  {
    name: 'a login is never checked',
    file: 'decide/record.ts',
    find: 'return !isYoungerThan(record.checkedAt, now, staleAfter(record, recheckSeconds))',
    replace: 'return false',
    breaks: ['I4 an end is noticed', 'I4 the check is made'],
  },
  {
    name: 'the grace has no end',
    file: 'decide/request-decision.ts',
    find: 'return isYoungerThan(record.checkedAt, now, timeLimits.recheckSeconds + timeLimits.graceSeconds)',
    replace: 'return true',
    breaks: ['I4 an end is noticed'],
  },
  {
    name: 'a fresh page goes by the record',
    file: 'decide/request-decision.ts',
    find: 'return facts.fresh ? decideFresh(facts, record, facts.fresh, timeLimits) : decideKnown(facts, record, timeLimits)',
    replace: 'return decideKnown(facts, record, timeLimits)',
    breaks: ['I4 fresh is fresh'],
  },
  {
    name: 'a landing needs no binding',
    file: 'decide/landing.ts',
    find: "if (binding === 'unbound') return { action: 'start_anew', reason: 'unbound' }",
    breaks: ['I3 right person'],
  },
  {
    name: 'an Authenticate whose answer was lost is sent again',
    file: 'web/actions/log-in.ts',
    find: 'decideLostLogin(await checkLostLogin(context, sid, couldBeLoggedIn(context.stored.value)))',
    replace:
      'decideLostLogin(await context.site.client.authenticate({ sid, usr: username, pwd: password, ...deviceOf(context.req) }).catch(() => undefined))',
    breaks: ['I7 one Authenticate'],
  },
  {
    name: 'each of two submits of one form authenticates',
    file: 'web/actions/login-single-flight.ts',
    find: '} else if (raw !== null && isAlive) {',
    replace: '} else if (raw !== null && isAlive && raw.length < 9) {',
    also: [
      { find: 'isSuccessor = isSame', replace: 'isSuccessor = false' },
      {
        file: 'storage/login-locks.ts',
        find: 'before === null ? undefined : FORM_SECONDS - LEASE_SECONDS',
        replace: 'undefined',
      },
    ],
    breaks: ['I7 one Authenticate'],
  },
  {
    name: 'everybody who finds a stale record asks',
    file: 'decide/request-decision.ts',
    find: 'return !hasWaited && isNear(record.checkBeganAt, now, lockSeconds)',
    replace: 'return false',
    breaks: ['I7 one Session Status'],
  },
  {
    name: 'kept logouts are not retried',
    file: 'web/actions/logout-retry-worker.ts',
    find: 'this.#timer = setTimeout(() => this.#look(), wait).unref()',
    breaks: ['I5 logouts arrive'],
  },
  {
    name: '"log out everywhere" ends this session only',
    file: 'web/actions/finish-logout.ts',
    find: 'account === undefined ? [] : index.revokeAccount(account, key)',
    replace: 'account === undefined ? [] : index.revokeAccount(account, key).then(() => [])',
    breaks: ['I5 log out everywhere'],
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
    name: 'an outage of the store makes strangers of readers',
    file: 'web/session/site-sessions.ts',
    find: 'target: { key, stored: pair },',
    replace: 'target: { key: undefined, stored: NO_ENTRY },',
    also: [{ find: "stored: this.#records.isAvailable ? NO_ENTRY : 'unavailable'", replace: 'stored: NO_ENTRY' }],
    breaks: ['I1', 'I6 login kept'],
  },
  {
    name: 'secrets are stored as they are',
    file: 'storage/records.ts',
    find: 'return seal(JSON.stringify(secrets), this.encryptionKeys())',
    replace: 'return JSON.stringify(secrets)',
    also: [{ find: 'unseal(record.sealedSecrets, this.encryptionKeys())', replace: 'record.sealedSecrets' }],
    breaks: ['I8'],
  },
  {
    name: 'whoever waited for a check keeps the data of the session that it ended',
    file: 'web/actions/resolve-user.ts',
    find: 'if (hasSessionEnded(context.stored, wasIn)) context.site.sessions.detach(context.req)',
    breaks: ['I3 right data'],
  },
]
