/**
 * Mutants that no test can tell from the package, and why, by file and line of code; `becomes` where only some of the line's are meant.
 * A mutant belongs here only when what it changes can be seen by nobody; else it needs a test, or the code is dead.
 */
const because = (why, entries) => entries.map(([file, line, becomes]) => ({ file, line, becomes, why }))

module.exports = [
  ...because('what has an empty block returns undefined as well', [
    ['protocol/json.ts', '} catch {', '{}'],
    ['decide/record.ts', '} catch {', '{}'],
    ['decide/session-data.ts', '} catch {', '{}'],
    ['decide/return-to.ts', '} catch {', '{}'],
    ['session/store.ts', '} catch {', '{}'],
    ['session/request-session.ts', 'toJSON(): undefined {', '{}'],
  ]),
  ...because('only spares work: what it lets through comes to the same further down', [
    ['protocol/json.ts', 'at < text.length', 'at <= text.length'],
    ['decide/record.ts', "if (!text?.startsWith('{')) return undefined"],
    ['decide/return-to.ts', 'value.length > maximum', 'false'],
    [
      'decide/return-to.ts',
      'if (queryStart < 0 || !head.includes(FLOW_PARAMETER, queryStart)) return address',
      'queryStart <= 0',
    ],
    ['decide/return-to.ts', '[^\\x00-\\x7f]+', '/[^\\x00-\\x7f]/g'],
    ['decide/session-data.ts', 'if (!isObject(stored)) return undefined', 'false'],
    ['decide/session-data.ts', 'if (!isObject(cookie)) return undefined', 'false'],
    ['decide/session-data.ts', 'text === null ? undefined : readMetadata(text)', 'false'],
    ['decide/masking.ts', "if (secret === '') return []"],
    ['decide/login-budgets.ts', 'let [first, last] = [0, PLAIN.length - 1]', 'PLAIN.length + 1'],
    ['session/session-cookie.ts', "if (!value.includes('%')) return value", ['false', '""']],
  ]),
  ...because('for the compiler: what is undefined is refused by what follows, or cannot be there', [
    ['decide/record.ts', 'accessUntil !== undefined && accessUntil <= now', 'true'],
    ['decide/binding.ts', 'value !== undefined && BINDING_VALUE.test(value)', 'true'],
    ['decide/binding.ts', "SHAPE.exec(value ?? '') ?? []"],
    ['decide/logout-cookie.ts', "SHAPE.exec(cookie ?? '') ?? []"],
    ['decide/logout-cookie.ts', 'if (subject === undefined || mark === undefined) return undefined'],
    ['decide/loop-guard.ts', "SHAPE.exec(cookie ?? '')"],
    ['decide/loop-guard.ts', "const [, since, count, cause = '', identity] = match"],
    ['storage/memory-kv.ts', 'if (value !== null) this.#write(key, value, seconds)', 'true'],
    ['storage/redis-kv.ts', "servers.breakerFor(keys[0] ?? '')", '"Stryker was here!"'],
    ['platform/credentials.ts', "state?.account.password ?? ''", '"Stryker was here!"'],
    ['platform/credentials.ts', "let code = ''", '"Stryker was here!"'],
    ['platform/credentials.ts', 'oldest !== undefined', ['true', 'oldest === undefined']],
    ['platform/sessions.ts', 'sid === undefined ? undefined', 'false'],
    ['platform/sessions.ts', 'browser === undefined ? undefined', 'false'],
    ['platform/sessions.ts', 'world.sidsByAccount.get(accountId) ?? []', '["Stryker was here"]'],
    ['platform/sessions.ts', 'findSession(world, sid, now) ?? []', '["Stryker was here"]'],
    ['platform/tickets.ts', 'client.scopes ?? []', '["Stryker was here"]'],
    ['platform/tickets.ts', 'accountId === undefined ? undefined', 'false'],
    [
      'platform/world.ts',
      "status === 'loggedin' && accountId !== undefined",
      ['true', "status === 'loggedin' || accountId !== undefined"],
    ],
    ['platform/world.ts', "if (session.status !== 'loggedin') return", 'false'],
    ['platform/world.ts', 'sids?.delete(session.sid)', 'sids.delete'],
    ['platform/world.ts', 'sids?.size === 0', 'sids.size'],
    ['decide/navigation.ts', 'purpose !== undefined &&', 'true'],
    ['decide/binding.ts', "SHAPE.exec(parameter ?? '') ?? []", ['"Stryker was here!"', '["Stryker was here"]']],
    ['decide/login-budgets.ts', 'const [head = [], tail = []] =', '["Stryker was here"]'],
    ['decide/login-budgets.ts', "PLAIN[middle] ?? ''", '"Stryker was here!"'],
    ['decide/record.ts', "status: (value: unknown): value is 'loggedin'", 'true'],
    ['decide/attempts.ts', 'known.left !== undefined && known.left <= least', 'true'],
    [
      'decide/device-cookie.ts',
      "account = '', name = ''] = text?.split",
      ['"Stryker was here!"', '["Stryker was here"]'],
    ],
    ['decide/device-cookie.ts', "const entriesOf = (cookie = '')", '"Stryker was here!"'],
    ['decide/masking.ts', 'WORDS.exec(form)?.[0]', 'WORDS.exec(form)[0]'],
    ['decide/return-to.ts', "const [beforeQuery = ''] = text.split", '"Stryker was here!"'],
    ['decide/return-to.ts', "const [head = '', ...fragment] =", '"Stryker was here!"'],
    ['decide/return-to.ts', "const [head = ''] = address.split", '"Stryker was here!"'],
    ['decide/return-to.ts', 'values[0]?.slice(prefix.length)', 'values[0].slice'],
    ['decide/session-data.ts', "JSON.parse(text ?? '')", '"Stryker was here!"'],
    ['decide/redis-failure-advice.ts', "if (typeof message !== 'string') return undefined", 'false'],
    ['decide/failure-advice.ts', "return kind === 'thrown' || kind === 'token'", ['false', '""']],
    ['decide/redis-failure-advice.ts', 'code !== undefined && CHECKS[code]', 'true'],
    ['decide/stored-entry.ts', 'TOMBSTONE.exec(raw) ?? []', '["Stryker was here"]'],
    ['decide/stored-entry.ts', "return stored.state === 'live' ? stored.record : undefined", 'true'],
    ['decide/stored-entry.ts', "stored.state === 'moved' || stored.state === 'ended'", 'true'],
    ['remote/http.ts', 'if (asked === null) return undefined', 'false'],
    ['web/limits.ts', "return voidUntil !== 'unavailable' && device.issued > voidUntil", ['true', '""']],
    ['decide/request-decision.ts', 'export const ANONYMOUS', '{}'],
    ['decide/navigation.ts', "shape.accept ?? ''", '"Stryker was here!"'],
    [
      'session/session-cookie.ts',
      "const [, id = '', signature = ''] =",
      ['"Stryker was here!"', '["Stryker was here"]'],
    ],
    ['session/session-cookie.ts', 'if (key) this.#put', 'true'],
    ['session/site-sessions.ts', 'data: place?.text ?? null', 'current.text'],
    ['session/site-sessions.ts', "stored !== 'unavailable' && recordIn(stored)", ['true', '""']],
    ['session/store.ts', "typeof maxAge === 'number' && Number.isFinite(maxAge)", 'true'],
    ['session/store.ts', "if (stored === 'unavailable') return this.#records.end(key, 0)", ['false', '""']],
    ['session/store.ts', "del: ([key = '']: string[])", '"Stryker was here!"'],
    ['session/store.ts', "typeof sess.req === 'object'", ['true', "'req' in sess || typeof sess.req === 'object'"]],
    ['remote/make-clients.ts', "config.clientSecrets()[client.secretInUse] ?? ''", '"Stryker was here!"'],
    ['remote/make-clients.ts', "tokenUrl: config.tokenUrl ?? ''", '"Stryker was here!"'],
    ['remote/platform-api.ts', 'issue?.path.join', ['issue.path', 'issue.message']],
    ['remote/platform-types.ts', '.exec(format.format(moment)) ?? []', '["Stryker was here"]'],
    ['remote/rest-call.ts', '() => Promise.reject(signal?.reason)', 'signal.reason'],
    ['remote/rest-call.ts', 'asked !== undefined && asked <= MAX_RETRY_AFTER_SECONDS', 'true'],
    ['remote/ticket.ts', 'cached !== undefined && cached !== seen', 'true'],
    ['remote/ticket.ts', 'const bare = { expiresIn: undefined, expiresAt: undefined }', '{}'],
    ['remote/ticket.ts', 'data.expiresIn === undefined ? undefined', 'false'],
  ]),
  ...because('what is kept under this key is never looked at, only whether there is something', [
    ['storage/records.ts', ", null, '1', seconds)", '""'],
    ['storage/logout-outbox.ts', "isSet(this.#key('retry', sidHash), null, '1', RETRY_LOCK_SECONDS)", '""'],
    ['storage/session-index.ts', "compareAndSet(key, null, '1', USED_TOKEN_SECONDS, revocation)", '""'],
  ]),
  ...because('only frees memory', [
    ['platform/calls.ts', 'if (this.calls.length >= 2 * CALLS_KEPT)'],
    ['storage/memory-kv.ts', 'if (found.size === 0) this.#sets.delete(set)', 'false'],
    ['storage/memory-kv.ts', 'this.#writes += 1'],
    ['storage/memory-kv.ts', 'if (this.#writes % SWEEP_EVERY === 0)'],
    ['session/site-sessions.ts', '|| this.#renewed.size >= MAX_RENEWED', ['false', 'this.#renewed.size > MAX_RENEWED']],
  ]),
  ...because('a name that tells lines of the log apart, and is in none', [
    ['storage/open-store.ts', "log.warn('redis:eviction'", '""'],
    ['remote/identify-health.ts', "'trips:cookies'", '""'],
    ['remote/identify-health.ts', "'trips:lost'", '""'],
    ['session/site-sessions.ts', "log.warn('session:regenerate'", '""'],
    ['session/store.ts', "log.info('session:destroy'", '""'],
    ['session/store.ts', "log.warn('store:save'", '""'],
  ]),
  ...because('attempts that are not frozen begin at zero when they are looked at', [
    ['platform/credentials.ts', 'const fresh = { failed: 0, frozenUntil: 0 }', '{}'],
  ]),
  ...because('a text that is in no other attempt, only longer', [
    ['web/limits.ts', 'const id = randomUUID().slice(0, 8)', 'randomUUID()'],
  ]),
  ...because('of sessions seen in the same second the order is any', [
    ['platform/world.ts', 'before.lastSeenAt !== session.lastSeenAt', 'true'],
  ]),
  ...because('every code has six digits', [
    ['platform/credentials.ts', 'const otp = /^\\d{6}$/.test(pwd)', ['/\\d{6}$/', '/^\\d{6}/']],
  ]),
  ...because('letters are compared without their case either way', [
    ['platform/world.ts', ".normalize('NFC').toLowerCase()", "(address[field] ?? '').normalize('NFC').toUpperCase()"],
  ]),
  ...because('a millisecond more', [
    ['lib/deadline.ts', 'performance.now() - due >= STOOD_STILL_MS', 'performance.now() - due > STOOD_STILL_MS'],
    [
      'storage/redis-servers.ts',
      '< PATIENCE_MS',
      'now - (lastEnds.get(redis) ?? Number.NEGATIVE_INFINITY) <= PATIENCE_MS',
    ],
    ['remote/rest-call.ts', 'asked >= bounds.left()', 'asked > bounds.left()'],
    ['remote/rest-call.ts', 'wait >= bounds.left()', 'wait > bounds.left()'],
    ['remote/identify-health.ts', 'if (firstMs <= began.ms)', 'firstMs < began.ms'],
    ['web/limits.ts', 'performance.now() < end', 'performance.now() <= end'],
    ['remote/identify-health.ts', '< LOST_MS', 'performance.now() - this.#firstRedirectMs <= LOST_MS'],
  ]),
  ...because('Node.js takes a call without a method for a GET', [['remote/platform-api.ts', "method: 'GET'", '""']]),
  ...because('no redirect comes as far: each is refused before', [
    ['remote/rest-call.ts', 'answer.status < 300', 'answer.status <= 300'],
  ]),
  ...because('the key is one text for one signature or name, however it is written', [
    ['storage/session-index.ts', "update(signature).digest('base64url')", '""'],
    ['web/limits.ts', ".digest('base64url')", '""'],
  ]),
  ...because('JSON leaves out what is undefined', [
    ['decide/attempts.ts', 'left === undefined ? { at } : { left, at }', 'false'],
    ['decide/attempts.ts', 'ownLock.left === undefined ? {} :', 'false'],
    ['decide/attempts.ts', 'left !== undefined && now - stored.at < ATTEMPTS_SECONDS', 'true'],
  ]),
  ...because('a group of an address without digits counts as zero', [
    ['decide/login-budgets.ts', "head.length - tail.length)).fill('0')", '""'],
    ['decide/login-budgets.ts', "Number.parseInt(group || '0', 16)", '""'],
  ]),
  ...because('an equal letter has been returned in the line before', [
    ['decide/login-budgets.ts', 'if (order < 0) last = middle - 1', 'order <= 0'],
  ]),
  ...because('the upper case that follows makes it equal', [
    ['decide/login-budgets.ts', 'plain.toLowerCase().toUpperCase()', 'plain.toUpperCase()'],
  ]),
  ...because('the pattern also fits nothing, so that it fits at the beginning', [
    ['decide/masking.ts', 'const WORDS = ', '/(?:[A-Z]?[a-z]{2,}|[A-Z]{3,}|[^A-Za-z])*/'],
  ]),
  ...because('writes what is there already, or nothing', [
    ['storage/logout-outbox.ts', 'aid === undefined ? {} : { aid }', 'false'],
  ]),
  ...because('UTF-8 is how Node.js reads a text where nothing is said', [
    ['session/session-cookie.ts', "createSecretKey(secret, 'utf8')", '""'],
    ['platform/world.ts', "Buffer.from(client.clientSecret, 'utf8')", '""'],
  ]),
  ...because('what is left out of it is undefined, which says no as well', [
    ['session/session-cookie.ts', 'const NONE: CookieFinding', '{}'],
    ['session/site-sessions.ts', 'const NO_TARGET: CookieTarget', '{}'],
    ['session/regenerate.ts', 'target: { key: undefined, stored: undefined }', '{}'],
  ]),
  ...because('without data, and never saved, it belongs to nobody either way', [
    ['session/request-session.ts', 'return { phase, id, text: null, since, isLoggedIn: false', 'true'],
  ]),
  ...because('whatever it is, it is no signed session ID', [
    ['session/session-cookie.ts', "return ''", '"Stryker was here!"'],
    ['session/session-cookie.ts', '} catch {', '{}'],
  ]),
  ...because('of these values it is the one that is none of the others', [
    ['session/regenerate.ts', "phase: 'live'", '""'],
    ['session/site-sessions.ts', "phase: 'live'", '""'],
    ['session/adapter.ts', "'send_if_filled'", '""'],
    ['session/regenerate.ts', "'send_if_filled'", '""'],
    ['session/site-sessions.ts', "'send_if_filled'", '""'],
  ]),
  ...because('what has ended has no data: they go in the same step', [
    ['session/store.ts', "phase !== 'live' && (phase !== 'data_only' || !found)", 'false'],
  ]),
  ...because('express-session asks for it only where a cookie of its own led to the session', [
    ['session/adapter.ts', 'resave: false', 'true'],
  ]),
  ...because('HS256 is what jsonwebtoken signs with where nothing is said', [
    ['protocol/token.ts', "{ algorithm: 'HS256' }", '{}'],
  ]),
  ...because('JSON knows neither inherited members nor a list with a name', [
    ['decide/record.ts', "isObject(value) && Object.hasOwn(value, 'accountId')"],
  ]),
  ...because('the origin of a page has no others beside it: the page was found to begin with it', [
    ['decide/return-to.ts', 'validateReturnTo(value, { origin, trustedOrigins: [] })', '["Stryker was here"]'],
  ]),
  ...because('a visit of the very second in which the session began is within any limit', [
    ['decide/request-decision.ts', 'record.since <= now', 'record.since < now'],
  ]),
  ...because('no two moments of the clock of a process are one', [
    ['remote/dependency.ts', 'now - this.#probedAt < PROBE_EVERY_MS', 'now - this.#probedAt <= PROBE_EVERY_MS'],
  ]),
  ...because('no two colours have just this contrast', [
    ['decide/contrast.ts', "contrast(brand, '#ffffff') >= TEXT_CONTRAST", "contrast(brand, '#ffffff') > TEXT_CONTRAST"],
  ]),
  ...because('the last step of all is the end itself, and an equal choice of ends is no choice', [
    ['decide/contrast.ts', 'steps < STEPS', 'steps <= STEPS'],
    ['decide/contrast.ts', "worst('#000000') > worst('#ffffff')", "worst('#000000') >= worst('#ffffff')"],
  ]),
]
