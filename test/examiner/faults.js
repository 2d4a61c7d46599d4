/**
 * Faults of the kind that real developers make, hidden in the good site in Python (`sites/good.py`), one at a time.
 * Each `find` stands in the site exactly once. `check` must not pass, and its reason must match `says`.
 */
const faults = []

/** Adds a fault. `changes` are pairs of what stands in the site and what replaces it. */
const hide = (name, check, says, ...changes) => faults.push({ name, check, says, changes })

const TOKEN = '    token = sign(claims)\n'
hide('each request token is printed', 'login/password-stays-nowhere', /output.*Authenticate/, [
  TOKEN,
  `${TOKEN}    print("calling", operation, token, flush=True)\n`,
])
hide('the body of each call is printed', 'login/password-stays-nowhere', /output.*Authenticate/, [
  TOKEN,
  `${TOKEN}    print(json.dumps({"t": token}), flush=True)\n`,
])
hide('the access log has the query', 'landing/leaves-nothing', /the token is in the site's output/, [
  'print(self.command, urlsplit(self.path).path, flush=True)',
  'print(self.command, self.path, flush=True)',
])
hide('the session ID is kept at a login by Identify', 'landing/new-session-id', /kept|still works/, [
  'now, key = time.time(), secrets.token_urlsafe(24)',
  'now, old = time.time(), self.cookie("session")\n        key = old if old in SESSIONS else secrets.token_urlsafe(24)',
])
hide(
  'the session ID is kept at a login by a status check',
  'status/new-session-id',
  /old ID|before the login/,
  ['or claims["sts"] != lks:', 'or (claims["sts"], lks) == ("anon", "loggedin"):'],
  [
    '            session["verified"] = now\n',
    '            session["verified"] = now\n            if claims["at"]:\n                session["user"] = user_of(claims["at"])\n',
  ],
)
const SIGNATURE = 'hmac.compare_digest(mac(f"{head}.{body}"), decode(signature))'
hide('the first bytes of a signature are compared', 'landing/partial-signature', /first/, [
  SIGNATURE,
  'mac(f"{head}.{body}")[:8] == decode(signature)[:8]',
])
hide('a truncated signature is accepted', 'landing/partial-signature', /cut|empty/, [
  SIGNATURE,
  'mac(f"{head}.{body}").startswith(decode(signature))',
])
hide('a page of the account may be kept by shared caches', 'session/shared-cache', /\/account shows a user/, [
  '"private, no-store")',
  '"public, max-age=300" if self.path == "/account" else "private, no-store")',
])
hide('the origin is compared by its beginning', 'login/foreign-form', /begins like/, [
  'return origin == SITE',
  'return (origin or "").startswith(SITE)',
])
hide('the name is not escaped', 'session/escaped-name', /\/ .*<b>|\/account/, [
  'name = html.escape(user["name"]) if user',
  'name = user["name"] if user',
])
hide('the username is not escaped', 'login/escaped-input', /username/, [
  'value="{html.escape(username)}"',
  'value="{username}"',
])
const PASSWORD = 'fields.get("password", "")'
hide('the password is trimmed', 'login/any-password', /space at/, [PASSWORD, `${PASSWORD}.strip()`])
hide('the password is made ASCII', 'login/any-password', /beyond ASCII/, [
  PASSWORD,
  `${PASSWORD}.encode("ascii", "ignore").decode()`,
])
hide('a plus in the password becomes a space', 'login/any-password', /\+/, [PASSWORD, `${PASSWORD}.replace("+", " ")`])
const ADDRESS = '"ipa": self.client_address[0]'
hide('ipa is constant', 'calls/user-address', /127\.0\.0\.1/, [ADDRESS, '"ipa": "127.0.0.1"'])
hide('ipa is the first address of X-Forwarded-For', 'calls/user-address', /X-Forwarded-For/, [
  ADDRESS,
  '"ipa": self.headers.get("x-forwarded-for", self.client_address[0]).split(",")[0]',
])
const FRESH = 'session = self.fresh(session) if session else None'
hide('no status check before Authenticate', 'login/stale-session', /without a status check/, [
  FRESH,
  'session = self.fresh(session) if session and self.path != "/login" else session',
])
hide('no status check before Logout', 'logout/stale-session', /without a status check/, [
  FRESH,
  'session = self.fresh(session) if session and self.path != "/logout" else session',
])
const UNCHECKED = '        session["checked"] = now if claims else now - RECHECK + RETRY\n'
hide(
  'a response that does not verify is an error',
  'status/wrong-signature',
  /logged-in user.*no response|logged-in user.*ECONN/,
  [UNCHECKED, '        session["checked"] = now\n        claims["sts"]\n'],
)
hide('a response that does not verify ends the session', 'status/wrong-signature', /logged-in user/, [
  UNCHECKED,
  `${UNCHECKED}        if not claims:\n            SESSIONS.pop(session["key"], None)\n`,
])

/* Faults that a second trial hid, none of which the examiner was written for */
hide('the login answers 307', 'login/right-password', /307/, [
  '        self.begin(session["sso"], user)\n        self.redirect(back)',
  '        self.begin(session["sso"], user)\n        self.redirect(back, 307)',
])
hide('the binding of a flow is looked for and not compared', 'landing/login-csrf', /has visited the site/, [
  'is_bound = bool(browser and found and hmac.compare_digest(found[2], self.binding(browser, path)))',
  'is_bound = bool(browser and found)',
])
hide('exp is compared in milliseconds', 'landing/expired', /accepted/, [
  'now < claims["exp"] + LEEWAY:',
  'now < claims["exp"] * 1000 + LEEWAY:',
])
hide('used tokens are forgotten at once', 'landing/replay-after-logout', /reload/, [
  '            is_first = signature not in USED\n',
  '            is_first = signature not in USED or claims["sts"] == "loggedin"\n',
])
hide('session IDs are made of the time', 'session/random-id', /guessed/, [
  'now, key = time.time(), secrets.token_urlsafe(24)',
  'now = time.time()\n        key = f"{int(now * 1000):x}-{sso[:4]}"',
])
hide('a return address needs one slash only', 'login/return-address', /leads to http:\/\/attacker/, [
  '    return address if address.startswith("/") and not address.startswith("//") else None',
  '    return address if address.startswith("/") else None',
])
hide('the user of a ticket is in a global variable', 'ticket/right-user', /another user/, [
  '    item = user.get("item") if isinstance(user, dict) else None\n',
  '    global LAST\n    LAST = user.get("item") if isinstance(user, dict) else None\n    time.sleep(0.05)\n    item = LAST\n',
])
hide('a terminated SSO session is kept', 'status/logout-elsewhere', /still logged in/, [
  'if claims["sts"] == "terminated" or claims["err"] == "session_not_found" or claims["sts"] != lks:',
  'if claims["err"] == "session_not_found" or claims["sts"] not in (lks, "terminated"):',
])
hide('a logout of all sessions ends one here', 'logout/all-sessions', /another session/, [
  'is_same_user = is_all and user and one["user"] and one["user"]["id"] == user["id"]',
  'is_same_user = False',
])
hide(
  'the access token is in a page',
  'session/tokens-stay-on-server',
  /access token/,
  [
    'return {"id": item["account_id"], "name": str(item["name"])}',
    'return {"id": item["account_id"], "name": str(item["name"]), "access": access}',
  ],
  ['f"<h1>Account</h1>', "f\"<h1 data-token={user['access']}>Account</h1>"],
)

module.exports = { faults }
