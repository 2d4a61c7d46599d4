/**
 * Faults of the kind that real developers make, of which none hides another, for the good site in Python (`sites/good.py`). `changes` are pairs of
 * what stands in the site and what replaces it. `check` must not pass, and its reason must match `says`.
 */
const faults = []

const hide = (name, check, says, ...changes) => faults.push({ name, check, says, changes })

const TOKEN = '    token = sign(claims)\n'
hide('each request token is printed', 'login/password-stays-nowhere', /output.*Authenticate/, [
  TOKEN,
  `${TOKEN}    print("calling", operation, token, flush=True)\n`,
])
hide('the access log has the query', 'landing/leaves-nothing', /the token is in the site's output/, [
  'print(self.command, urlsplit(self.path).path, flush=True)',
  'print(self.command, self.path, flush=True)',
])
const SIGNATURE = 'hmac.compare_digest(mac(f"{head}.{body}"), decode(signature))'
hide('the first bytes of a signature are compared', 'landing/partial-signature', /first/, [
  SIGNATURE,
  'mac(f"{head}.{body}")[:8] == decode(signature)[:8]',
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
const PASSWORD = 'fields.get("password", "")'
hide('the password is trimmed', 'login/any-password', /space at/, [PASSWORD, `${PASSWORD}.strip()`])
const ADDRESS = '"ipa": self.client_address[0]'
hide('ipa is constant', 'calls/user-address', /127\.0\.0\.1/, [ADDRESS, '"ipa": "127.0.0.1"'])

module.exports = { faults }
