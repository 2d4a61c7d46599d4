/**
 * Defences that are taken out, one at a time, and the tests that must notice. Each file below lib/ has its weakenings, by their names.
 * `find` stands in the file exactly once; `replace` stands there instead, or nothing. `also` has further changes, of that file or of
 * another one where two defences stand one behind the other. `test` has the begin of a file's name below test/, and a pattern of the
 * names of the tests that are run, or none.
 */

/** Tests whose titles name one of these threats in brackets. */
const threat = (...names) => `\\[[^\\]]*\\b(${names.join('|')})\\b`

const byFile = {
  'protocol/token.ts': {
    'the algorithm in the header is not looked at': {
      find: "if (ownValue(header, 'alg') !== 'HS256') refuseToken('algorithm', 'alg')",
      test: ['safety/tokens', threat('T1', 'T2')],
    },
    'HS512 is accepted': {
      find: "algorithms: ['HS256' as const]",
      replace: "algorithms: ['HS256' as const, 'HS512' as const]",
      also: [
        {
          find: "if (ownValue(header, 'alg') !== 'HS256') refuseToken('algorithm', 'alg')",
          replace: "if (!['HS256', 'HS512'].includes(String(ownValue(header, 'alg')))) refuseToken('algorithm', 'alg')",
        },
      ],
      test: ['safety/tokens', threat('T2')],
    },
    'the signature is not compared': {
      find: "if (fault !== 'signature') return { index, fault }",
      replace: "return { index, fault: fault === 'signature' ? undefined : fault }",
      test: ['safety/tokens', threat('T2', 'T5')],
    },
    'the audience is not checked': {
      find: "const options = { algorithms: ['HS256' as const], issuer, audience,",
      replace: "const options = { algorithms: ['HS256' as const], issuer, ...(audience ? {} : { audience }),",
      test: ['safety/tokens', threat('L6')],
    },
    'a token for several sites is taken': {
      find: "if (typeof ownValue(claims, 'aud') !== 'string') refuseToken('audience')",
      test: ['safety/tokens', threat('L6')],
    },
    'the issuer is not checked': {
      find: "const options = { algorithms: ['HS256' as const], issuer, audience,",
      replace: "const options = { algorithms: ['HS256' as const], audience, ...(issuer ? {} : { issuer }),",
      test: ['safety/tokens', threat('L5')],
    },
    'segments are decoded loosely': {
      find: "bytes.length === 0 || bytes.toString('base64url') !== segment",
      replace: 'bytes.length === 0',
      test: ['safety/tokens', threat('T5')],
    },
    'critical headers are ignored': {
      find: "const FORBIDDEN_HEADERS = ['crit', 'b64', 'zip', 'cty']",
      replace: 'const FORBIDDEN_HEADERS: string[] = []',
      test: ['safety/tokens', threat('T4')],
    },
    'expired tokens are taken': {
      find: "if (exp <= now - toleranceSeconds) refuseToken('expired', 'exp', now - iat)",
      test: ['safety/tokens', threat('T11')],
    },
    'tokens of the future are taken': {
      find: "if (iat > now + toleranceSeconds) refuseToken('not_yet_valid', 'iat', now - iat)",
      test: ['safety/tokens', threat('T11')],
    },
    'times may be any number': {
      find: "return isNonNegativeInteger(value) ? value : refuseToken('claims', name)",
      replace: "return typeof value === 'number' ? value : refuseToken('claims', name)",
      test: ['safety/tokens', threat('T9', 'T10')],
    },
    'oversized tokens are looked into': {
      find: 'token.length === 0 || token.length > MAX_TOKEN_LENGTH',
      replace: 'token.length === 0',
      test: ['safety/tokens', threat('T14')],
    },
  },
  'protocol/json.ts': {
    'a member may stand there twice': {
      find: 'isObject(value) && Object.keys(value).length === membersWritten(text)',
      replace: 'isObject(value)',
      test: ['safety/tokens', threat('T7')],
    },
    'a byte order mark is skipped': {
      find: "bytes.toString('utf8')",
      replace: "bytes.toString('utf8').replace(/^\\ufeff/, '')",
      test: ['safety/tokens', threat('T6')],
    },
  },
  'protocol/session-token.ts': {
    'the answer may be about another session': {
      find: 'if (answered !== undefined && requested !== undefined && answered !== requested)',
      replace: "if (requested === '')",
      test: ['safety/token-answers', threat('L8')],
    },
    'any combination of status and ticket is taken': {
      find: "if (!COMBINATIONS[request.operation].includes(found)) throw new TokenError('claims', 'sts')",
      test: ['safety/token-answers', threat('L7')],
    },
    'identifiers of blanks are taken': {
      find: 'BLANK.test(value)',
      replace: "value === ''",
      test: ['protocol/session-token', 'blanks only'],
    },
  },
  'decide/status-check.ts': {
    'a check of before a lost login says what became of the login': {
      find: 'mustCheck === true && record.currentCheckId !== checkId',
      replace: 'mustCheck === true && record.currentCheckId !== record.currentCheckId',
      test: ['decide/status-check', 'does not count'],
    },
  },
  'decide/landing.ts': {
    'an anonymous landing forgets a login whose outcome is unknown': {
      find: '(couldBeLoggedIn(login) && login?.sidHash === sidHash)',
      replace: '(isLoggedIn(login) && login?.sidHash === sidHash)',
      test: ['decide/landing', 'whose outcome is unknown'],
    },
    'a landing needs no binding': {
      find: "if (binding === 'unbound') return { action: 'start_anew', reason: 'unbound' }",
      test: ['safety/landing', threat('L1')],
    },
    'a used token is taken again': {
      find: 'if (facts.isReplayed) return decideReplay(facts)',
      test: ['safety/landing', threat('L3')],
    },
    'a session that was logged out here may log in again': {
      find: 'if (facts.isSsoSessionRevoked)',
      replace: 'if (facts.isSsoSessionRevoked && false)',
      test: ['decide/landing', 'logged out'],
    },
    'one address begins as many sessions as it likes': {
      find: 'isLandingLimitReached && record === undefined',
      replace: 'isLandingLimitReached && false',
      test: ['safety/landing-limit'],
    },
    'the mark of a logout does not count at the landing': {
      find: "if (isLoggedOut(facts, token)) return { action: 'log_out', token, reason: 'signed_out' }",
      test: ['regressions/logout-again', 'that Redis then lost'],
    },
    'a login begins in an SSO session that waits for its logout': {
      find: ' || isNamed',
      test: ['regressions/logout-again', 'whose logout Redis lost is not ended'],
    },
    'a login begins in an SSO session that the site has logged out': {
      find: 'if (facts.isSsoSessionRevoked)',
      replace: "if (token.sts === 'loggedin' && facts.isSsoSessionRevoked)",
      test: ['decide/landing', 'no login begins in it'],
    },
    'the second of two tabs that come back from Identify loses what the site has kept': {
      find: "successor?.status === 'anon') return",
      replace: "successor?.status === 'loggedin') return",
      test: ['regressions/site-data', 'S20'],
    },
  },
  'decide/binding.ts': {
    'a binding holds for ever': {
      find: 'return age <= maximumAge && age >= -MARKER_SECONDS',
      replace: 'return true',
      test: ['decide/binding', 'a binding looked at'],
    },
    'the binding is not that of the cookie': {
      find: "[purpose, ...parts].join('\\n')",
      replace: "[purpose, parts.at(-1)].join('\\n')",
      test: ['safety/landing', threat('L1')],
    },
    'a process knows no marker of a process whose clock is ahead': {
      find: 'return now - issued <= MARKER_SECONDS',
      replace: 'return Math.abs(now - issued) <= MARKER_SECONDS',
      test: ['regressions/clocks', 'without cookies'],
    },
    'an old address of a browser without cookies logs in no browser': {
      find: "return now - issued <= MARKER_SECONDS ? 'current' : 'old'",
      replace: "return 'current'",
      test: ['safety/trips', 'an old address'],
    },
  },
  'web/routes/landing.ts': {
    'an anonymous landing forgets a logout of all sessions': {
      find: ' && !(await isNamedLogoutPending(context))',
      test: ['regressions/logout-all', 'a login form that was open'],
    },
    'the landing redirects to the raw r': {
      find: 'const returnTo = validateReturnTo(query.r, site.config.returnPolicy, MAX_CARRIED_LENGTH) ?? `${site.config.siteUrl}/`',
      replace: "const returnTo = query.r ?? '/'",
      test: ['safety/addresses', threat('R1')],
    },
    'a tab does not wait for the session of another tab with the same token': {
      find: "if (decision.reason === 'replayed' && redirects && isLastRedirect(redirects)) await sleep(OTHER_TAB_MS)",
      test: ['safety/tabs', 'a tab shows the login page'],
    },
    'a prefetch uses the token up': {
      find: "if (isPrefetchRequest(req)) return sendProblem(site, req, res, 503, 'prefetch')",
      test: ['safety/landing', threat('L12')],
    },
    'access logs see the token': {
      find: '  req.originalUrl = hide(req.originalUrl ?? req.url)\n',
      test: ['safety/leaks', threat('O7')],
    },
  },
  'web/http/request-facts.ts': {
    'a path that names another host is a return address': {
      find: 'address.startsWith(`${origin}/`) && !address.startsWith(`${origin}//`)',
      replace: 'address.startsWith(`${origin}/`)',
      test: ['regressions/guards', 'a script returns to its page'],
    },
    'return_to is not judged': {
      find: 'validateReturnTo(value, config.returnPolicy) ?? `${config.siteUrl}/`',
      replace: "String(value ?? '/')",
      test: ['safety/addresses', threat('F11')],
    },
    'the origin is taken from Host': {
      find: 'isMounted ? returnPolicy.origin : siteUrl',
      replace: '`http://${req.headers.host}`',
      test: ['safety/redirects', threat('R3')],
    },
    'cookies are read loosely': {
      find: 'pairs.push([withoutBlanks(pair.slice(0, equalsSign)),',
      replace: 'pairs.push([pair.slice(0, equalsSign).trim(),',
      test: ['safety/cookies', threat('S2')],
    },
    'blanks in a cookie keep everybody waiting': {
      find: 'withoutBlanks(pair.slice(equalsSign + 1))])',
      replace: "pair.slice(equalsSign + 1).replace(/^[ \\t]+|[ \\t]+$/g, '')])",
      test: ['safety/long-requests', '\\[T14\\]'],
    },
    'the first of two cookies counts': {
      find: 'return values.length === 1 ? values[0] : undefined',
      replace: 'return values[0]',
      also: [
        {
          file: 'web/session/session-cookie.ts',
          find: 'if (more.length > 0) return { id: undefined, isUnreadable: true, isDoubled: true }',
        },
      ],
      test: ['safety/cookies', threat('S2')],
    },
    'an address with a port is no address': {
      find: "withoutPort(req.ip ?? req.socket?.remoteAddress ?? '')",
      replace: "(req.ip ?? req.socket?.remoteAddress ?? '')",
      test: ['regressions/names'],
    },
    'every request has an originalUrl': {
      find: 'req.originalUrl ?? req.url',
      replace: 'req.originalUrl',
      test: ['regressions/packages-upgrades', 'a request without Express through'],
    },
  },
  'web/http/response-headers.ts': {
    'a guarded page may be kept by a shared cache': {
      find: '  beforeHeaders(res, () => {\n    const said',
      replace: '  void (() => {\n    const said',
      test: ['safety/headers', threat('R10')],
    },
    'a redirect after a login keeps the method': {
      find: 'res.statusCode = status',
      replace: 'res.statusCode = status === 303 ? 307 : status',
      test: ['safety/headers', threat('R7')],
    },
    'answers may be cached': {
      find: "res.setHeader('cache-control', 'no-store')",
      test: ['safety/headers', threat('R10')],
    },
    'the Referer is sent': {
      find: "res.setHeader('referrer-policy', 'no-referrer')",
      test: ['safety/headers', threat('R10', 'R11', 'R13')],
    },
    'a hook that throws a command of Express opens the page': {
      find: 'cause && !NO_ERRORS.has(cause)',
      replace: 'cause',
      test: ['regressions/hook-errors', 'keeps the page closed'],
    },
    'an upgrade with an empty answer is taken for a page': {
      find: "if (typeof res.setHeader !== 'function' || res.headersSent) return",
      replace: 'if (res.headersSent) return',
      test: ['web/session-surroundings', 'reads and saves the session'],
    },
    'no-transform of a page is lost': {
      find: "${NO_TRANSFORM.test(said) ? 'no-transform, ' : ''}",
      test: ['web/session', 'says .* of caches'],
    },
  },
  'config/log.ts': {
    'lines are printed as they are': {
      find: "maskSecrets(textOf().replace('{grace}', this.#grace), known)",
      replace: "textOf().replace('{grace}', this.#grace)",
      test: ['regressions/failure-log', threat('O6')],
    },
  },
  'web/actions/exchange-ticket.ts': {
    'the log is not told what a hook was given': {
      find: '[at, sid, accessToken]',
      replace: '[]',
      test: ['regressions/failure-log', threat('O6')],
    },
    'a hook that fails leaves no line': {
      find: 'config.log.failed(step, failure, [at, sid, accessToken])',
      replace: 'void failure',
      test: ['regressions/failure-log', 'is logged once, with its stack'],
    },
  },
  'web/actions/identify.ts': {
    'anybody can say where a landing went': {
      find: "    site.client.readLanding(queryParameters(req).get('t'))\n",
      test: ['regressions/failure-log', threat('O9')],
    },
    'a process does not renew the marker of a process whose clock is behind': {
      find: "if (markerOf(context) === 'old') {",
      replace: 'if (false) {',
      test: ['regressions/clocks', 'without cookies'],
    },
    'each identifyUrl() sets a binding of its own': {
      find: 'if (browser.binding === undefined) {',
      replace: 'if (site) {',
      test: ['regressions/addresses', 'several identifyUrl'],
    },
  },
  'web/guards.ts': {
    'a Referer is not judged': {
      find: '(validateReferer(req.headers.referer, returnPolicy) ?? `${siteUrl}/`)',
      replace: '(req.headers.referer ?? `${siteUrl}/`)',
      test: ['safety/addresses', threat('R1')],
    },
    'a login at another site is not asked for': {
      find: "return resolveAgain(holder, { identify: 'always', fresh: context.statusChecksAtStart })",
      replace: 'return context !== undefined',
      test: ['flows/own-login-page', 'knows of it at once'],
    },
  },
  'decide/return-to.ts': {
    'a Referer may be of an origin that begins like ours': {
      find: '!value.startsWith(`${origin}/`)) return undefined\n  const page = validateReturnTo(value, { origin, trustedOrigins: [] })',
      replace: '!value.startsWith(origin)) return undefined\n  const page: string | undefined = value',
      test: ['safety/addresses', threat('R1')],
    },
    'a return address may begin with two slashes': {
      find: "text.startsWith('//') ? undefined : policy.origin + text",
      replace: "text.startsWith('//') ? text : policy.origin + text",
      test: ['safety/addresses', threat('R1')],
    },
    'the length of our parameter is not reserved': {
      find: 'MAX_CARRIED_LENGTH = MAX_RETURN_LENGTH + 48',
      replace: 'MAX_CARRIED_LENGTH = MAX_RETURN_LENGTH',
      test: ['regressions/addresses', '\\((2030|2048) characters\\) ends at itself'],
    },
    'a space in an address leads to the front page': {
      find: 'encodeNonAscii(encodeInnerSpaces(value))',
      replace: 'encodeNonAscii(value)',
      test: ['regressions/addresses', 'all work, one after the other'],
    },
  },
  'web/request-context.ts': {
    'nothing stops a loop': {
      find: 'return page === undefined ? undefined : blockReason(redirectCountFor(context, page), site.now())',
      replace: 'return undefined',
      test: ['safety/trips', threat('R8')],
    },
    'pages share a count': {
      find: 'config.cookies.loop + pageKey(page)',
      replace: '(pageKey(page), `${config.cookies.loop}01234567`)',
      test: ['safety/tabs', 'count of a page is its own'],
    },
    'a guard asks in its own router where the site is mounted': {
      find: 'const address = requestAddress(req, site.config, isMounted)',
      replace: "const address = requestAddress(req, site.config, isMounted || req.baseUrl !== '')",
      test: ['regressions/addresses', 'a router at /admin'],
    },
  },
  'decide/loop-guard.ts': {
    'a browser keeps the trips of eight pages': {
      find: 'const MAX_PAGES = 32',
      replace: 'const MAX_PAGES = 8',
      test: ['safety/tabs', 'thirty tabs'],
    },
    'a process does not count the redirects of a process whose clock is wrong': {
      find: 'if (!match) return undefined\n  const [, since, count',
      replace: 'if (!match || Math.abs(Number(match[1]) - now) > 60) return undefined\n  const [, since, count',
      test: ['decide/loop-guard', 'whose clocks differ'],
    },
    'a chain of trips is counted by the cookie alone': {
      find: 'isLast && (!redirects || !isLastRedirect(redirects)) ? blockRedirects(now) : redirects',
      replace: 'redirects',
      test: ['decide/loop-guard', 'two tabs of one page'],
    },
    'a trip is forgotten because its landing went well': {
      find: "return redirects && { ...redirects, cause: 'b' }",
      replace: 'return undefined',
      test: ['regressions/endless-redirects', 'is unknown at the SSO system'],
    },
  },
  'remote/breaker.ts': {
    'a failure that is older than a success opens the breaker': {
      find: 'if (beganAt < this.#succeededAt) return',
      test: ['remote/breaker', 'began before a success'],
    },
    'one user closes the way to the SSO system for all': {
      find: 'user_call: 0',
      replace: 'user_call: 1',
      test: ['remote/breaker', '\\[F15\\]'],
    },
  },
  'remote/identify-health.ts': {
    'a firewall that refuses the probe closes the login for all': {
      find: 'if (isProbeRefused(error)) return this.#logRefusedProbe(error)',
      test: ['remote/identify-health', 'refuses the probe'],
    },
  },
  'web/pages/answers.ts': {
    'the login form may be framed': {
      find: "res.setHeader('x-frame-options', framing)",
      test: ['safety/headers', threat('R13')],
    },
    'pages with a form hide where the form comes from': {
      find: "res.setHeader('referrer-policy', 'same-origin')",
      replace: "res.setHeader('referrer-policy', 'no-referrer')",
      test: ['safety/headers', 'the login form is 200'],
    },
    'a problem view that fails is an error in the answer to an error': {
      find: "await sendBuiltIn(site, res, status, 'problem', problem, framing)",
      replace: "throw new Error('views.problem failed')",
      test: ['safety/operation-hooks', 'view problem that does "throw" ends'],
    },
    'a view may take for ever': {
      find: "await runHook('views', AbortSignal.timeout(HOOKS_MS), make)",
      replace: 'await make()',
      test: ['safety/operation-hooks', 'never settle hold'],
    },
    'the built-in pages have the policy of the site’s views': {
      find: 'setPageHeaders(res, builtIn.policy, framing)',
      replace: 'setPageHeaders(res, builtIn.policy && undefined, framing)',
      test: ['web/pages', 'keep the policy of ours'],
    },
    'a nonce is used again': {
      find: "randomBytes(16).toString('base64url')",
      replace: "randomBytes(16).fill(7).toString('base64url')",
      test: ['web/pages', 'a new nonce for each answer'],
    },
  },
  'web/router.ts': {
    'forms of other sites are taken': {
      find: "if (!isSameOriginPost({ secFetchSite: req.get('sec-fetch-site'), origin }, site.config.returnPolicy.origin)) {",
      replace: "if (origin === '') {",
      test: ['safety/login-form', threat('F1')],
    },
    'a GET logs out': {
      find: 'page(showLogout(false), handleLogout(false))',
      replace: 'page(handleLogout(false), handleLogout(false))',
      test: ['safety/login-form', threat('F2')],
    },
  },
  'decide/record.ts': {
    'a reader logs in with a session that another browser has brought': {
      find: 'record.browser !== undefined && record.browser !== browser',
      replace: 'record.browser !== undefined && browser === null',
      test: ['safety/tossed-session', 'L2, S1'],
    },
    'the session ID stays the same at a login': {
      find: 'if (!isLoggedIn(record) || !isLoggedIn(next)) return record?.status === next.status',
      replace: 'if (!isLoggedIn(record) || !isLoggedIn(next)) return record !== undefined',
      test: ['safety/identity', threat('L2')],
    },
    'a record of the next version cannot be read': {
      find: 'const NEWEST_READABLE = CURRENT_VERSION + 1',
      replace: 'const NEWEST_READABLE = CURRENT_VERSION',
      test: ['decide/record', 'the next version'],
    },
    'what this version does not know of a record is lost': {
      find: 'return isObject(record) && isSsoRecord(record) ? record : undefined',
      replace:
        'const known = /^(v|status|since|check|currentCheckId|lastCheckId|unanswered|sidHash|sealedSecrets|user|pending|mustCheck|access)/\n    if (!isObject(record) || !isSsoRecord(record)) return undefined\n    return Object.fromEntries(Object.entries(record).filter(([name]) => known.test(name))) as never',
      test: ['decide/record', 'keeps it through every change'],
    },
  },
  'decide/login.ts': {
    'wrong one-time passwords are not counted': {
      find: "new Set(['invalid_credentials', 'invalid_otp'])",
      replace: "new Set(['invalid_credentials'])",
      test: ['safety/login-limits', 'guesses at a one-time password'],
    },
    'a wrong password whose response is lost costs no attempt': {
      find: 'return wasSent && !isTurnedAway ? ',
      replace: 'return !wasSent && !isTurnedAway ? ',
      test: ['decide/login', 'F17'],
    },
    'a login without a session is sent to an SSO system that is down': {
      find: "return facts.isSsoAvailable && !facts.isLandingUnstored ? 'session_ended' : 'unavailable'",
      replace: "return 'session_ended'",
      test: ['regressions/forms', 'to /login without a session gets'],
    },
  },
  'web/routes/login.ts': {
    'a wrong one-time password tells that the account exists': {
      find: "  'invalid_otp',\n",
      test: ['safety/login-form', '\\[F7\\]'],
    },
    'the password stays on the request': {
      find: '  req.body = undefined\n',
      test: ['safety/leaks', threat('F8')],
    },
  },
  'decide/device.ts': {
    'accents and invisible characters make another name': {
      find: ".replace(MARKS_AND_IGNORABLES, '')",
      test: ['decide/device', 'F16'],
    },
    'every address of an IPv6 network counts as another visitor': {
      find: "if (!address.includes(':')) return address",
      replace: 'if (address) return address',
      test: ['web/login-limits', 'IPv6'],
    },
    'a name that only looks alike shares a device cookie': {
      find: "isSignature(keys, 'device', username, entry",
      replace: "isSignature(keys, 'device', username.normalize('NFKC').toLowerCase(), entry",
      test: ['regressions/names', 'a device cookie of "ada" is none of'],
    },
  },
  'web/limits.ts': {
    'a name with one attempt left is tried': {
      find: 'Math.min(GUARD.points, FREEZES_AT - left)',
      replace: 'Math.min(0, FREEZES_AT - left)',
      test: ['web/login-limits', 'the platform reports'],
    },
    'unrecognised browsers leave no attempt to recognised ones': {
      find: 'const FOR_UNRECOGNISED = 3',
      replace: 'const FOR_UNRECOGNISED = 4',
      test: ['web/login-limits', 'three are sent'],
    },
    'every browser is recognised': {
      find: 'const mayUseLast = isOwn || ',
      replace: 'const mayUseLast = !isOwn || ',
      test: ['safety/login-limits', threat('F3')],
    },
    'an attack takes the last point of the guard for moments': {
      find: '  if (seen.used >= seen.most) return',
      replace: '  if (seen.used >= 1000) return',
      test: ['web/login-limits', 'while an attack on a name goes on'],
    },
    'without Redis each process has a guard of its own': {
      find: "limiter('guard', GUARD, 'error')",
      replace: "limiter('guard', GUARD)",
      test: ['web/login-limits', 'no login is admitted'],
    },
    'an attempt that is given back late enlarges the next window': {
      find: 'endsAt - performance.now() > LATE_MS',
      replace: 'endsAt > LATE_MS',
      test: ['web/login-limits', 'F19'],
    },
    'addresses have no limit': {
      find: 'const PER_ADDRESS = 5',
      replace: 'const PER_ADDRESS = 500',
      test: ['web/login-limits', 'five times the attempts'],
    },
    'an outage, or a login that succeeds, costs attempts': {
      find: "if (result.outcome !== 'wrong_password') {",
      replace: "if (result.outcome === 'refused') {",
      test: ['web/login-limits', 'costs nothing'],
    },
  },
  'storage/redis-scripts.ts': {
    'a record is saved without compare-and-set': {
      find: "if (ARGV[1] == 'none' and current) or (ARGV[1] == 'value' and current ~= ARGV[2])\n  or",
      replace: 'if false\n  or',
      test: ['safety/races', threat('S6', 'S7', 'L2', 'L3')],
    },
    'a submit takes over a login lock that was renewed since': {
      find: "  or (ARGV[7] and redis.call('pttl', KEYS[1]) > tonumber(ARGV[7])) then",
      replace: '  then',
      test: ['web/login-single-flight', 'renewed after the submit had read it'],
    },
    'a late save brings a session back': {
      find: "if marker and string.sub(marker, 1, 1) ~= '{' then return 0 end",
      test: ['safety/races', threat('S6')],
    },
    'a login reads the revocations before its session is in the indexes': {
      find: "redis.call('zadd', KEYS[1], ARGV[2], ARGV[1])",
      replace:
        "if redis.call('get', KEYS[2]) then return {now, 0, {}} end\nredis.call('zadd', KEYS[1], ARGV[2], ARGV[1])",
      test: ['storage/session-index'],
    },
    'a process whose clock is behind hides a session from a logout of all sessions': {
      find: 'math.max(tonumber(known), tonumber(ARGV[2]))',
      replace: 'ARGV[2]',
      test: ['regressions/clocks', 'hides no session'],
    },
    'lists of sessions are never trimmed': {
      find: "redis.call('zremrangebyscore', KEYS[1], '-inf', ARGV[3])",
      test: ['regressions/session-index', 'holds no session that is over'],
    },
  },
  'web/actions/log-in.ts': {
    'each submit is an Authenticate': {
      find: 'return runExclusive(context, { key, ...submit }, (lock) => runLogin(context, { username, password }, lock))',
      replace:
        'return runLogin(context, { username, password }, { isSuccessor: submit.arrivedAt === 0, isHeld: async () => true })',
      test: ['safety/two-processes', threat('F5')],
    },
    'a session that Authenticate calls unknown stays': {
      find: "      await endWithSsoSession(context, context.stored.value?.sidHash ?? '')\n",
      test: ['faults/platform', '8b.*login'],
    },
    'a login counts although the site has logged out in onLogin': {
      find: 'if (context.stored.value === undefined) return',
      replace: 'if (!context) return',
      test: ['regressions/login-hooks', 'the logout cookie stays'],
    },
    'whoever is in already is told that a password was right whose answer was lost': {
      find: 'couldBeIn ? undefined : await',
      replace: 'await',
      test: ['flows/login', 'is in already says'],
    },
    'a wrong password is right where an earlier login is pending': {
      find: 'checkLostLogin(context, sid, couldBeLoggedIn(context.stored.value))',
      replace: "checkLostLogin(context, sid, context.stored.value?.status === 'loggedin')",
      test: ['web/lost-login', 'Session Status does not tell'],
    },
    'a browser is recognised whose password was not judged': {
      find: 'if (sent.isAnswered) site.limits.rememberDevice',
      replace: 'site.limits.rememberDevice',
      test: ['web/lost-login', 'the browser is not known'],
    },
    'a status is asked again after each login that was lost': {
      find: '  if (answer === undefined) await stored.update',
      replace: "  if (answer?.sts !== 'loggedin') await stored.update",
      test: ['web/lost-login', 'does not ask again'],
    },
    'a login whose outcome is unknown stays unknown for six minutes': {
      find: '  if (answer === undefined) await stored.update',
      replace: '  if (!stored) await stored.update',
      test: ['flows/login', 'is shown by the next page'],
    },
  },
  'remote/sso2.ts': {
    'a lost Authenticate is sent again': {
      find: 'if (error instanceof Sso2UnavailableError && error.retryable) return await call()',
      replace: 'if (error instanceof Sso2UnavailableError) return await call()',
      test: ['safety/login-limits', threat('F6')],
    },
    'whoever logs in can open the circuit for all': {
      find: "operation === 'sessionstatus' ? 'call' : 'user_call'",
      replace: "'call'",
      test: ['remote/outages', 'a login does not open the circuit for all'],
    },
    'a Logout that does not work stops the logins of all': {
      find: "operation === 'sessionstatus' ? 'call' : 'user_call'",
      replace: "operation === 'authenticate' ? 'user_call' : 'call'",
      test: ['remote/outages', 'stop nothing else'],
    },
    'the claims of a token are logged': {
      find: '    return { answer: readSessionToken(claims, request), signedBy }',
      replace: '    console.log(claims)\n    return { answer: readSessionToken(claims, request), signedBy }',
      test: ['safety/leaks', threat('F8', 'O6')],
    },
    'landing addresses tell the time': {
      find: "const isAnswer = request.operation !== 'identify'",
      replace: 'const isAnswer = true',
      test: ['regressions/clocks', 'landing address of a day ago'],
    },
    'a client may speak to anybody in plain text': {
      find: "ssoUrl: address(false, 'https://sso.example')",
      replace: 'ssoUrl: z.url()',
      test: ['remote/sso2', 'wrong ssoUrl'],
    },
    'one name may stand for two parties': {
      find: '...nameProblems(options),',
      test: ['remote/sso2', 'wrong organisationId'],
    },
  },
  'web/actions/sign-in.ts': {
    "one account's data moves to the next": {
      find: 'const keepsData = !isOtherAccount(before, record)',
      replace: 'const keepsData = true',
      test: ['safety/identity', threat('L10')],
    },
    'a login that was slow survives a logout': {
      find: "written === 'done' && added !== 'unavailable' && !added.isRevoked",
      replace: "written === 'done' && added !== 'unavailable'",
      test: ['regressions/final-logout', 'two tabs that land'],
    },
    'a session that the site renewed stays in its indexes': {
      find: '    removeFromIndex(site, key, value),\n',
      test: ['regressions/session-index', 'renews'],
    },
    'an account has any number of sessions': {
      find: 'for (const surplus of added.surplus) await endSurplus(site, entryOf(key, record), surplus)',
      replace: '{}',
      test: ['regressions/many-sessions', threat('S21')],
    },
  },
  'config/index.ts': {
    'cookies have no __Host- prefix': {
      find: "`${isSecure ? '__Host-' : ''}${text}`",
      replace: 'text',
      test: ['safety/cookies', threat('S1')],
    },
    'braces of a client ID reach Redis': {
      find: '/[{}%]/g',
      replace: '/[%]/g',
      test: ['config', 'hash tag'],
    },
  },
  'storage/site-store.ts': {
    'keys in the store hold the session ID': {
      find: "return hash('sha256', sessionId, 'base64url')",
      replace: 'return sessionId',
      test: ['safety/leaks', threat('S4')],
    },
    'printing a record box shows what is in it': {
      find: "return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url')",
      replace:
        "return Buffer.concat([nonce, cipher.getAuthTag(), body]).toString('base64url') + (text.length < 0 ? '' : `.${text}`)",
      test: ['safety/leaks', threat('S4')],
    },
  },
  'decide/request-decision.ts': {
    'a session never ends': {
      find: "if (ageOf(record.since, now) >= timeLimits.absoluteSeconds && record.since <= now)\n    return { action: 'end_session', reason: 'absolute_limit' }",
      test: ['decide/request-decision', 'absolute limit'],
    },
    'the grace has no end': {
      find: 'return isYoungerThan(record.checkedAt, now, timeLimits.recheckSeconds + timeLimits.graceSeconds)',
      replace: 'return isYoungerThan(record.checkedAt, now, 1e9)',
      test: ['flows/status', threat('S11')],
    },
    'a store that is away means a stranger': {
      find: "if (!facts.isStoreAvailable) return anonymous('store_unavailable')",
      test: ['faults/store', 'Redis is lost'],
    },
    'an access token that cannot be renewed costs a trip each time': {
      find: 'if (isNear(record.accessFailedAt, facts.now, ACCESS_PAUSE_SECONDS)) return false',
      test: ['regressions/endless-redirects', 'and is not renewed'],
    },
    'a failed check of a process whose clock is ahead stops the checks of all others for its lead': {
      find: 'return isNear(unansweredAt, now,',
      replace: 'return isYoungerThan(unansweredAt, now,',
      test: ['decide/request-decision', 'missing response of the future'],
    },
    'a fresh page takes the answer to an older question': {
      find: '    lastCheckId !== statusChecksAtStart.currentCheckId\n',
      replace: '    true\n',
      test: ['decide/request-decision', 'takes no response'],
    },
    'the response to a check that was sent before a request is fresh for the request': {
      find: '    lastCheckId !== statusChecksAtStart.currentCheckId\n',
      replace: '    true\n',
      test: ['regressions/fresh-pages', 'a check that was sent before the request began'],
    },
    'a fresh page is shown while somebody else asks': {
      find: "if (isBeingChecked(facts, record, timeLimits)) return { action: 'wait_for_check' }\n  if (isPaused",
      replace: 'if (isBeingChecked(facts, record, timeLimits)) return showRecord(record)\n  if (isPaused',
      test: ['regressions/fresh-pages', 'requests at once \\(.*none passes'],
    },
    'an SSO system in trouble is asked as often as before': {
      find: 'const CHECK_PAUSE_SECONDS = 4\n',
      replace: 'const CHECK_PAUSE_SECONDS = 3\n',
      test: ['decide/request-decision'],
    },
  },
  'config/validators.ts': {
    'addresses may be unencrypted': {
      find: 'if (!isLoopback(url.hostname)) return',
      replace: "if (!isLoopback(url.hostname) && url.hostname === '') return",
      test: ['safety/operation', threat('O1')],
    },
    'a brand may load from any kind of address': {
      find: 'const problem = webAddressProblem(text, isProduction)\n      if (problem) context.addIssue',
      replace: 'const problem = text === "" && isProduction\n      if (problem) context.addIssue',
      test: ['branding-options', '\\[R13\\]'],
    },
    'a host may end a word of a policy': {
      find: "if (!HOST.test(url.hostname)) return 'must have a host of letters, digits, dots and dashes'",
      test: ['branding-options', '\\[R13\\]'],
    },
  },
  'remote/http.ts': {
    'redirects on the back channel are taken for responses': {
      find: 'status < 400 && !takesRedirect',
      replace: 'status < 300 && !takesRedirect',
      test: ['remote/http', 'is refused, and an answer only where'],
    },
    'answers may have any size': {
      find: 'if (size > maxBytes)',
      replace: 'if (size < 0)',
      test: ['safety/back-channel', threat('T14')],
    },
    'the emulator is taken in production': {
      find: 'headers[EMULATOR_HEADER] !== undefined &&',
      replace: 'headers[`${EMULATOR_HEADER}-not`] !== undefined &&',
      test: ['safety/operation', threat('O10')],
    },
    'a call waits forever for an answer that changes the protocol': {
      find: "sent.on('close', () => reject(",
      replace: "sent.on('never', () => reject(",
      test: ['remote/http', 'changes the protocol'],
    },
  },
  'web/hooks.ts': {
    'hooks may take for ever': {
      find: "once(signal, 'abort').then(",
      replace: "once(signal, 'never').then(",
      test: ['safety/operation-hooks', threat('O12')],
    },
  },
  'web/session/site-sessions.ts': {
    'a form of another site replaces the session': {
      find: 'isOfOtherSite = isCrossSitePost(sender, this.#config.returnPolicy.origin)',
      replace: "isOfOtherSite = isCrossSitePost({ ...sender, method: 'GET' }, this.#config.returnPolicy.origin)",
      test: ['browser/refused', 'payment provider'],
    },
    'strangers are sent to Identify though no landing could be stored': {
      find: "stored: this.#records.isAvailable ? NO_ENTRY : 'unavailable'",
      replace: "stored: this.#records ? NO_ENTRY : 'unavailable'",
      test: ['faults/store', 'row 1[12].*new'],
    },
    'a login takes along what its own request has read': {
      find: 'changedBy(slot, this.#usable(slot, next.taken))',
      replace: 'changedBy(slot, this.#usable(slot, slot.current.text))',
      test: ['regressions/site-data', 'goes along'],
    },
    'the entry of a session in use expires in its indexes': {
      find: 'if (!isLoggedIn(record)) return',
      replace: 'if (!isLoggedIn(record) || key) return',
      test: ['web/session', 'a tenth of its life has gone'],
    },
  },
  'decide/logout.ts': {
    'a hash may begin with the mark of an unread session': {
      find: "const ONE = '~'",
      replace: "const ONE = '-'",
      test: ['flows/logout', 'whatever the hash'],
    },
    'a logout of a session that the store has lost goes through Identify': {
      find: "(key !== undefined && state !== 'ended')",
      replace: "(key !== undefined && state !== 'ended' && false)",
      test: ['faults/store', 'row 13.*logout'],
    },
    'the mark of a session does not know which of the SSO system it was': {
      find: "sidHash: sidHash === '' ? undefined : sidHash",
      replace: 'sidHash: undefined',
      test: ['flows/logout-midway', 'a logout'],
    },
    'a cookie that cannot be read is no session at a logout': {
      find: 'facts.hasUnreadableCookie || ',
      test: ['regressions/final-logout', 'signed with a secret that is gone'],
    },
    'a mark by a secret that is not known here is none': {
      find: "if (!isOurs || subject === (isOfSession ? first : ''))",
      replace: "if (!isOurs) return undefined\n  if (subject === (isOfSession ? first : ''))",
      test: ['decide/logout', 'an unknown secret stands'],
    },
    'the confirmation of a single logout confirms a logout of all': {
      find: 'isAll: true, isConfirmed: known.isConfirmed }',
      replace: 'isAll: true, isConfirmed: known.isConfirmed || logout.isConfirmed }',
      test: ['decide/logout', 'all, then one that is confirmed'],
    },
  },
  'web/actions/resolve-user.ts': {
    'a stale login is nobody while the store takes no writes': {
      find: "return showStaleRecord({ now: site.now() }, record, site.timeLimits, 'store_unavailable')",
      replace: "return { record: undefined, degraded: 'store_unavailable' }",
      test: ['faults/store', 'row 15.*stale'],
    },
    'pressing "log in" takes the mark of a logout away': {
      find: 'progress.logoutCookie = (await retryLogoutFromCookie(context)).outcome',
      replace:
        "progress.logoutCookie = (await retryLogoutFromCookie(context)).outcome\n      if (progress.logoutCookie === 'not_found') context.res.clearCookie(context.site.config.cookies.logout)",
      test: ['regressions/logout-again', '"log in" that'],
    },
    'a stranger whom the SSO system forgets loses the basket': {
      find: 'const dropped = await context.stored.drop(({ value }) => value?.sidHash === sidHash && !isLoggedIn(value))',
      replace: "const dropped: 'changed' | 'done' = 'changed'",
      test: ['regressions/site-data', 'whom the SSO system forgets'],
    },
    'a session that was told "terminated" lives on in another question': {
      find: "const revoked = await stored.writeMarker(isIt, 'ended')",
      replace:
        "const first = stored.value\n  const revoked = await stored.writeMarker((found) => isIt(found) && found.value === first, 'ended')\n  if (revoked.outcome === 'changed' && stored.value) return { record: stored.value, degraded: undefined }",
      test: ['regressions/fresh-pages', 'told "terminated"'],
    },
    'check() on an answer that has begun uses the ticket up': {
      find: 'if (res.headersSent !== false && !isLoggedIn(stored.value))\n',
      replace: 'if (!res)\n',
      test: ['regressions/site-data', 'an answer that has begun'],
    },
    'a check during a response asks again and again about a login that has become one of another account': {
      find: "if (outcome === 'too_late') return endRecord(",
      replace: 'if (!res) return endRecord(',
      test: ['regressions/site-data', 'a check during a response ends the login'],
    },
    'a landing under way brings back a login whose session nobody could tell at the logout': {
      find: "of === 'session' || (of !== 'sso_session' && isLoggedIn(value))",
      replace: "of === 'session'",
      test: ['regressions/final-logout', 'had lost everything of'],
    },
    'a landing under way brings back a login whose session ended elsewhere before the logout': {
      find: "(of !== 'sso_session' && isLoggedIn(value))",
      replace: "(of === 'next_login' && isLoggedIn(value))",
      test: ['regressions/logout-again', 'a landing in progress'],
    },
    'a page shows nobody the data of a reader whose session Redis has lost': {
      find: 'return hasMovedOrEnded(stored) || (wasIn && stored.key !== undefined && stored.isUnwritten)',
      replace: 'return hasMovedOrEnded(stored) || (wasIn && stored.key === undefined)',
      test: ['regressions/site-data', 'Redis loses during a check'],
    },
  },
  'web/session/adapter.ts': {
    'the browser keeps the cookie of a session that has ended': {
      find: "else if (current.cookieAction === 'send_or_drop') this.#cookie.drop(res)",
      test: ['safety/headers', 'logout'],
    },
    'express-session sends its own cookie': {
      find: 'res.writeHead = writeHead',
      replace: 'void writeHead',
      test: ['web/session', 'one private cookie|says .* of caches'],
    },
  },
  'remote/ticket.ts': {
    'a token endpoint that fails leaves health() as it was': {
      find: 'this.#failures += 1',
      test: ['regressions/poisoned-account', 'health'],
    },
    'the end of an access token keeps its fraction': {
      find: 'const seconds = Math.floor(given)',
      replace: 'const seconds = given',
      test: ['remote/ticket', 'whole seconds'],
    },
    'an odd end of an access token refuses the token': {
      find: 'expiresAt: z.unknown().optional()',
      replace: 'expiresAt: z.number().int().optional()',
      test: ['regressions/endless-redirects', 'expiresAt with a fraction.*logs in at the landing'],
    },
  },
  'config/load.ts': {
    'the client secret may sign cookies too': {
      find: '[...nameProblems(merged), ...sharedSecretProblems(merged)]',
      replace: 'nameProblems(merged)',
      test: ['config', 'a session secret that is the client secret too'],
    },
    'the login page may be anybody’s': {
      find: "if (login === false || login.startsWith('/')) return true",
      replace: 'if (siteUrl || trustedReturnOrigins) return true',
      test: ['branding-options', '\\[F11\\]'],
    },
  },
  'config/unchanged-options.ts': {
    'hooks may be anything': {
      find: "typeof value === 'function', 'must be a function'",
      replace: "value !== undefined, 'must be a function'",
      test: ['config', 'along with all other problems'],
    },
  },
  'web/actions/log-out.ts': {
    'a logout with the cookie of a moment ago ends nothing': {
      find: "(await stored.followMovedSession()) !== 'unavailable' && stored",
      replace: 'stored',
      test: ['regressions/final-logout', 'the login ends the session that followed'],
    },
    'a logout of all becomes a logout of one while Redis takes no writes': {
      find: "{ of: 'session', key: key ?? '', isAll, isConfirmed, sidHash }",
      replace: "{ of: 'session', key: key ?? '', isAll: false, isConfirmed, sidHash }",
      test: ['regressions/logout-all', 'is finished, and is not sent again by another process'],
    },
    'a logout whose end in the store was not heard of is not kept': {
      find: "else if ((await addPendingLogout(site, sidHash, { ...logout, isConfirmed })) === 'done')",
      replace: 'else',
      test: ['flows/logout-midway', 'a logout'],
    },
    'a session that Redis did not end at once waits for the SSO system': {
      find: 'await endLocalSessions(site, sidHash, scope) // Redis is back, and a retry may wait for the SSO system',
      replace: '{}',
      test: ['flows/logout-midway', 'Redis fails once'],
    },
    'a logout of all that is not confirmed is kept as one of one': {
      find: 'else await retryLater(context, sidHash, left)',
      replace: 'else await retryLater(context, sidHash, { ...left, isAll: false })',
      test: ['regressions/logout-all', 'while the SSO system is down'],
    },
    'a logout that nobody can place leaves no mark': {
      find: '      setLogoutCookie(context, decision.logoutCookie)\n',
      test: ['web/log-out-steps', 'Redis does not return is in the cookie'],
    },
    'the mark of a logout falls though the SSO system did not confirm it': {
      find: 'if (isConfirmed) dropLogoutCookie(context)\n  else',
      replace: "dropLogoutCookie(context)\n  if (!isConfirmed && sid === '')",
      test: ['regressions/logout-again', 'whose Logout fails leaves no silent login'],
    },
    'a hanging Logout is asked again by the first page': {
      find: '  if (isSlow(beganAt)) await site.pendingLogouts.pauseRetry(sidHash)\n',
      test: ['regressions/logout-again', 'hangs in Logout alone'],
    },
    'a pending logout does not know the session of its browser': {
      find: '...deviceOf(req), ...scope, isConfirmed: false }\n  if (isEnded',
      replace: '...deviceOf(req), ...scope, key: undefined, isConfirmed: false }\n  if (isEnded',
      test: ['flows/logout-midway', 'a logout'],
    },
    '"log out everywhere" after "log out" says that it is retried': {
      find: "  if (isAll && wasAll === false) return 'no_session'\n",
      test: ['regressions/logout-all', 'the browser has no session any more'],
    },
    'a second click on "log out" ends the next login on another site': {
      find: "!isToRetry(browser.logoutCookie)) setLogoutCookie(context, { of: 'recent' }",
      replace: "!isToRetry(browser.logoutCookie)) setLogoutCookie(context, { of: 'next_login' }",
      test: ['regressions/logout-again', 'after a script has logged out twice'],
    },
    'a logout is undone by the page that follows': {
      find: "  if (!isToRetry(browser.logoutCookie)) setLogoutCookie(context, { of: 'recent' })\n",
      test: ['regressions/logout-again', 'ends the login of the other site'],
    },
    'a logout that the SSO system confirms a moment later is undone by the page that retries it': {
      find: "isFirstRetry ? setLogoutCookie(context, { of: 'recent' }) : dropLogoutCookie(context)",
      replace: 'dropLogoutCookie(context)',
      test: ['regressions/logout-again', 'does not respond at first'],
    },
    'a logout that Redis does not keep ends a login that is newer': {
      find: 'key === undefined ?',
      replace: 'key !== null ?',
      test: ['web/log-out-steps', 'that Redis does not keep either'],
    },
    'a session without a record survives a logout while Redis takes no writes': {
      find: "const outcome = isAvailable ? await endWithoutRecord(stored) : 'unavailable'",
      replace:
        "const ended = isAvailable ? await endWithoutRecord(stored) : 'unavailable'\n    const outcome = ended === 'unavailable' && isAvailable ? 'done' : ended",
      test: ['regressions/logout-again', 'takes no writes ends a session whose record'],
    },
    'a logout in onLogout calls onLogout without end': {
      find: 'context.running.onLogout = true',
      replace: 'context.running.onLogout = false',
      test: ['regressions/login-hooks', 'does not call onLogout again'],
    },
    'a logout leaves what the site has put into a session without a record': {
      find: "await endWithoutRecord(stored) : 'unavailable'",
      replace: "'done' : 'unavailable'",
      test: ['flows/logout', 'since a logout that is not confirmed'],
    },
    'a landing forgets the logout of all that the store was not told of': {
      find: "browser.logoutCookie?.of === 'session' && (await retryLogoutFromCookie(context)).outcome === 'pending'",
      replace: 'browser.logoutCookie?.of !== browser.logoutCookie?.of',
      test: ['regressions/logout-all', 'a landing of another tab'],
    },
  },
  'web/actions/finish-logout.ts': {
    'a hanging Logout is asked again by each page': {
      find: '(isSlow(beganAt) ? pendingLogouts.pauseRetry(id) : pendingLogouts.unlockRetry(id))',
      replace: 'pendingLogouts.unlockRetry(id)',
      test: ['regressions/logout-again', 'hangs in Logout alone'],
    },
    'a confirmed logout of all is sent again': {
      find: 'if (!logout.isConfirmed && !(await',
      replace: 'if (!(await',
      test: ['regressions/logout-all', 'not sent again'],
    },
    'a confirmed logout of all is sent again by another process': {
      find: '...scope, isConfirmed: logout.isConfirmed }',
      replace: '...scope, isConfirmed: false }',
      test: ['regressions/logout-all', 'is not sent again by another process, if the SSO'],
    },
    'a session without a record survives a logout while Redis hangs': {
      find: "if (!value) return (await endWithoutRecord(stored)) === 'done' ? 'done' : 'unavailable'",
      replace: "if (!value) return 'done'",
      test: ['regressions/logout-again', 'whose record is lost too'],
    },
  },
  'storage/pending-logouts.ts': {
    'a logout of all that one process remembers does not widen a single one in Redis': {
      find: 'merged.isAll !== found.isAll || ',
      test: ['storage/pending-logouts-and-login-locks', 'widens a single one'],
    },
    'the confirmation of a single logout replaces a logout of all': {
      find: 'isWider(found) ? undefined : FINISHED',
      replace: 'isWider(found) ? FINISHED : FINISHED',
      test: ['storage/pending-logouts-and-login-locks', 'is not confirmed with the single one'],
    },
  },
  'web/actions/logout-retry-worker.ts': {
    'a logout waits for minutes because Redis did not answer its retry': {
      find: 'if (waitsSince !== undefined) await pendingLogouts.postpone(id, waitsSince,',
      replace: "if (outcome !== 'confirmed') await pendingLogouts.postpone(id, waitsSince ?? 0,",
      test: ['regressions/logout-all', 'is repeated within seconds'],
    },
    'a process that closes forgets the logouts that Redis did not store': {
      find: '    for (let left = pendingLogouts.copies; ; left -= MAX_RESTORED) {\n      await this.#moveToRedis(end)',
      replace: '    for (let left = pendingLogouts.copies; ; left -= MAX_RESTORED) {',
      test: ['web/logout-retry-worker', 'first ends the sessions'],
    },
    'a process that closes gives Redis only the first of its logouts': {
      find: 'if (left <= MAX_RESTORED || ',
      replace: 'if (left <= Infinity || ',
      test: ['web/logout-retry-worker', 'all logouts that Redis has lost'],
    },
    'a Logout that does not work is sent for all waiting logouts at once': {
      find: 'if (!isConfirmed && results.some(isUnconfirmed)) return',
      replace: 'if (results.length === 0) return',
      test: ['web/logout-retry-worker', 'sends eight a second'],
    },
  },
  'web/sso2-request.ts': {
    'check() goes by what was read when the request began': {
      find: "if ((await context.stored.reread()) === 'unavailable') throw storeUnavailable()",
      also: [{ find: ', fresh: statusChecksOf(context.stored) })', replace: ' })' }],
      test: ['regressions/fresh-pages', 'after a logout has returned'],
    },
    'check() throws an error without a class': {
      find: "identity.degraded === 'store_unavailable') throw storeUnavailable()",
      replace: "identity.degraded === 'store_unavailable') throw new Error('the session store did not answer')",
      test: ['regressions/errors', 'req.sso2.check\\(\\) of a user'],
    },
  },
  'web/actions/login-single-flight.ts': {
    'a second submit of a login does not know the first': {
      find: 'if (isSame && (hasJoined || isSimultaneous(submit, form))) return',
      replace: 'if (isSame && !hasJoined && !isSimultaneous(submit, form)) return',
      test: ['regressions/site-data', 'submits of the login'],
    },
    'a form that arrives after a response gets that response': {
      find: 'arrivedAt <= endedAt + spareMs',
      replace: 'arrivedAt <= endedAt + spareMs + 5000',
      test: ['safety/login-limits', 'is a new question'],
    },
    'a second submit of a login keeps its old session': {
      find: '  await site.sessions.adopt(req, sessionId)\n',
      test: ['regressions/site-data', 'whose answer is the only one'],
    },
  },
  'decide/session-data.ts': {
    'a request with the cookie of before a login begins a session of its own': {
      find: "return hasJustEnded(stored, now) ? 'just_ended' : 'new'",
      replace: "return 'fresh'",
      test: ['web/session', 'a moment after its session moved'],
    },
  },
  'web/routes/logout.ts': {
    'a logout without a session is sent to an SSO system that is down': {
      find: 'const canIdentify = site.identifyHealth.isAvailable',
      replace: 'const canIdentify = true',
      test: ['regressions/forms', 'to /logout without a session gets'],
    },
  },
  'decide/timestamps.ts': {
    'marks in the future count': {
      find: ' || moment - now > MAX_CLOCK_SKEW_SECONDS',
      test: ['decide/request-decision', 'a check in the future'],
    },
  },
  'web/session/session-cookie.ts': {
    'what a cookie parser in front has found counts': {
      find: 'const [value, ...more] = cookieValues(req, this.#name)',
      replace:
        'const parsed = req.cookies?.[this.#name]\n    const [value, ...more] = parsed === undefined ? cookieValues(req, this.#name) : [String(parsed)]',
      test: ['regressions/cookies-in-front'],
    },
    'an odd spelling of the cookie counts where a cookie parser found it': {
      find: 'const [value, ...more] = cookieValues(req, this.#name)',
      replace: 'const [value = req.cookies?.[this.#name], ...more] = cookieValues(req, this.#name)',
      test: ['regressions/cookies-in-front'],
    },
    'an answer with a live session ID may be kept': {
      find: '    makePrivate(res)\n',
      test: ['web/session', 'says .* of caches'],
    },
  },
  'web/session/store.ts': {
    'a regenerate() that failed says that it went well': {
      find: '() => callback(),\n      (error: unknown) => callback(error),\n    )\n  }\n\n  /** Logs that data',
      replace: '() => callback(),\n      () => callback(),\n    )\n  }\n\n  /** Logs that data',
      test: ['web/session-outage', 'tells its callback'],
    },
    'a save that Redis refuses is silent': {
      find: 'if (error) this.#tellNotSaved()',
      test: ['web/session-outage', 'a save that the store refuses'],
    },
  },
  'web/session/regenerate.ts': {
    'what a reader’s page puts into a session after regenerate() is dropped': {
      find: "phase: 'live', id, text: null, cookieAction: 'send' }\n  return",
      replace: "phase: 'just_ended', id, text: null, cookieAction: 'send' }\n  return",
      test: ['web/session', 'regenerate gives'],
    },
  },
  'deadline.ts': {
    'a process that stood still gives nobody time to answer': {
      find: 'wait(ms, (stoodStill) => (stoodStill ? read(STEPS, MAX_STEPS) : end()))',
      replace: 'wait(ms, () => end())',
      test: ['storage/opening', 'stands still while it connects'],
    },
  },
  'web/stored-record.ts': {
    'regenerate() tries for ever': {
      find: 'tries < MAX_TRIES && isWanted(this); tries += 1) {\n      if (this.#key === undefined) return { outcome',
      replace:
        'tries < 40 * MAX_TRIES && isWanted(this); tries += 1) {\n      if (this.#key === undefined) return { outcome',
      test: ['web/session-moves', 'comes and goes all the time'],
    },
  },
  'storage/session-index.ts': {
    'a logout of all sessions is missed by a login whose machine slept meanwhile': {
      find: 'Math.max(this.nowMs() - wallMs, performance.now() - steadyMs)',
      replace: 'performance.now() - steadyMs + 0 * wallMs',
      test: ['storage/session-index', 'the clock that has gone further'],
    },
  },
  'decide/login-redirect.ts': {
    'two sites that do not agree lead a stranger in a circle': {
      find: "count >= MAX_REDIRECTS ? 'identify_loop' : refusalOf(facts)",
      replace: 'refusalOf(facts)',
      test: ['flows/own-login-page', 'leads no user in a circle'],
    },
  },
  'decide/contrast.ts': {
    'a colour is taken as it is for links': {
      find: 'link: readableColor(brand, grounds, linkContrast),',
      replace: 'link: linkContrast > 0 ? brand : readableColor(brand, grounds, 1),',
      test: ['decide/contrast', 'whatever colour'],
    },
  },
  'web/routes/doctor-report.ts': {
    'the landing page tells everybody how the site is set up': {
      find: 'return isDoctorSignature(site.macKeys, req.get(DOCTOR_HEADER), site.now())',
      replace: 'return isDoctorSignature(site.macKeys, req.get(DOCTOR_HEADER), site.now()) || !!req.get(DOCTOR_HEADER)',
      test: ['cli/doctor', 'tells only the doctor'],
    },
  },
}

/** One weakening by itself. */
const weakeningOf = (file, name, { test: [test, title = ''], ...changes }) => ({ name, file, ...changes, test, title })

module.exports = Object.entries(byFile).flatMap(([file, weakenings]) =>
  Object.entries(weakenings).map(([name, weakening]) => weakeningOf(file, name, weakening)),
)
