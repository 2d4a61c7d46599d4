"""A small, correct site in Python's standard library, written from the interface alone. The examiner must find nothing to fix here.

Run it with the settings that `express-sso2 examine --settings` prints, and PORT. Everything is in the memory of one process.
"""
import base64
import hashlib
import hmac
import html
import http.client
import json
import os
import re
import secrets
import threading
import time
from concurrent.futures import Future
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, urlencode, urlsplit

ENV = os.environ
SITE = ENV["SSO2_SITE_URL"]
LANDING = urlsplit(ENV["SSO2_LANDING"]).path
SECRET = ENV["SSO2_CLIENT_SECRET"].encode()
RECHECK = float(ENV.get("RECHECK_SECONDS", "360"))
GRACE = float(ENV.get("GRACE_SECONDS", "900"))
LEEWAY, RETRY, MAX_FAILURES = 5, 2, 3
BOT = re.compile("bot|crawl|spider|slurp", re.I)
BINDING_KEY = secrets.token_bytes(32)

LOCK = threading.RLock()
SESSIONS = {}  # by the value of the session cookie
USED = {}  # signatures of landing tokens, and when each one expires
ENDED = set()  # SSO sessions that were logged out here
LOGOUTS = {}  # logouts that the platform has not confirmed: SSO session -> device
LOGINS = {}  # login attempts in progress
PLATFORM = {"failures": 0, "down": False, "last": 0.0}


# Tokens

def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode(data) != text:
        raise ValueError("not canonical base64url")
    return data


def mac(text, key=SECRET):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def sign(claims):
    now = int(time.time())
    common = {"cid": ENV["SSO2_CLIENT_ID"], "nbf": now, "iat": now, "exp": now + 10}
    parties = {"iss": ENV["SSO2_ORGANISATION_ID"], "aud": ENV["SSO2_IDENTIFIER"]}
    head = encode(b'{"alg":"HS256","typ":"JWT"}') + "." + encode(json.dumps({**common, **parties, **claims}).encode())
    return head + "." + encode(mac(head))


def verify(token):
    """The claims of a Session Token, or None."""
    try:
        if len(token) > 8000:
            return None
        head, body, signature = token.split(".")
        header = json.loads(decode(head))
        if header["alg"] != "HS256" or header["typ"] != "JWT":
            return None
        if not hmac.compare_digest(mac(f"{head}.{body}"), decode(signature)):
            return None
        claims, now = json.loads(decode(body)), time.time()
        if claims["iss"] != ENV["SSO2_IDENTIFIER"] or claims["aud"] != ENV["SSO2_CLIENT_ID"]:
            return None
        if not claims["nbf"] - LEEWAY <= now < claims["exp"] + LEEWAY:
            return None
        return claims if claims["sts"] in ("anon", "loggedin", "terminated") else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


# Calls of the platform

def send(url, body=None, headers=None):
    """Sends a request. Returns the JSON of a 200 response, or None. Follows no redirect."""
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.netloc, timeout=2)
    try:
        connection.request("GET" if body is None else "POST", parts.path, body, headers or {})
        response = connection.getresponse()
        data = response.read(64_000)
        return json.loads(data) if response.status == 200 else None
    except (OSError, ValueError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def call(operation, claims):
    """Calls an SSO2 operation once. Returns the verified claims of the response, or None."""
    token = sign(claims)
    answer = send(f'{ENV["SSO2_URL"]}/{operation}', json.dumps({"t": token}).encode(), {"content-type": "application/json"})
    verified = verify(answer.get("t")) if isinstance(answer, dict) else None
    if verified and "sid" in claims and verified.get("sid") != claims["sid"]:
        verified = None
    with LOCK:
        PLATFORM["failures"] = 0 if verified else PLATFORM["failures"] + 1
        if verified:
            PLATFORM["last"] = time.time()
        PLATFORM["down"] = PLATFORM["failures"] >= MAX_FAILURES
    return verified


def user_of(ticket):
    """Exchanges a ticket and loads its user. Returns None when either fails."""
    form = {"grant_type": "authorization_code", "code": ticket, "client_id": ENV["SSO2_CLIENT_ID"],
            "client_secret": ENV["SSO2_CLIENT_SECRET"]}
    kind = {"content-type": "application/x-www-form-urlencoded"}
    token = send(ENV["SSO2_TOKEN_URL"], urlencode(form), kind)
    access = token.get("access_token") if isinstance(token, dict) else None
    if not isinstance(access, str):
        return None
    user = send(f'{ENV["SSO2_API_URL"]}/external/api/v1/me', None, {"authorization": f"Bearer {access}"})
    item = user.get("item") if isinstance(user, dict) else None
    return {"id": item["account_id"], "name": str(item["name"])} if isinstance(item, dict) else None


def probe():
    call("sessionstatus", {"sid": "probe", "lks": "anon", "ipa": "127.0.0.1", "uas": "probe"})


def work():
    """Asks a platform that is down whether it is back, and sends the logouts that it has missed."""
    while True:
        time.sleep(1)
        if PLATFORM["down"]:
            probe()
        for sid, device in list(LOGOUTS.items()):
            if not PLATFORM["down"] and call("logout", {"sid": sid, **device}):
                LOGOUTS.pop(sid, None)
        for signature, end in list(USED.items()):
            if end + LEEWAY < time.time():
                USED.pop(signature, None)


MESSAGES = {
    "invalid_credentials": lambda c: f'Username or password is wrong. {c["raa"]} attempts are left.',
    "account_frozen": lambda c: f'The account is locked for {-(-c["frf"] // 3600)} hours.',
    "account_not_active": lambda c: "The account is not active. Please contact us.",
    "session_limit_reached": lambda c: "You are logged in on too many devices. Log out on one of them.",
    "invalid_otp": lambda c: "The one-time password is not valid.",
    "otp_consumed_or_expired": lambda c: "The one-time password is not valid any more.",
}
NOT_NOW = "Logging in does not work right now. Please try again in a minute."
LOGOUT_FORMS = """<form method="post" action="/logout"><button>Log out</button></form>
<form method="post" action="/logout-all"><button>Log out of all sessions</button></form>"""


def path_here(address):
    """Path and query of an address of this site, or None."""
    if re.search(r"[\x00-\x20\\\x7f]", address):
        return None
    if address.startswith(SITE + "/"):
        address = address[len(SITE):]
    return address if address.startswith("/") and not address.startswith("//") else None


def with_parameter(path, parameter):
    return path + ("&" if "?" in path else "?") + parameter


class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        print(self.command, urlsplit(self.path).path, flush=True)

    # Responses

    def respond(self, status, body="", location=None):
        self.send_response_only(status)
        self.log_request(status)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("cache-control", "private, no-store")
        self.send_header("content-security-policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'")
        self.send_header("referrer-policy", "no-referrer")
        self.send_header("x-content-type-options", "nosniff")
        self.send_header("content-length", str(len(body.encode())))
        for cookie in self.cookies_to_set:
            self.send_header("set-cookie", cookie)
        if location:
            self.send_header("location", location)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body.encode())

    def redirect(self, location, status=303):
        self.respond(status, location=location)

    def set_cookie(self, name, value):
        secure = "; Secure" if SITE.startswith("https:") else ""
        self.cookies_to_set.append(f"{name}={value}; HttpOnly; SameSite=Lax; Path=/{secure}")

    # Requests

    def cookie(self, name):
        morsel = SimpleCookie(self.headers.get("cookie", "")).get(name)
        return morsel.value if morsel else None

    def device(self):
        return {"ipa": self.client_address[0], "uas": self.headers.get("user-agent", "")}

    def is_prefetch(self):
        return bool(re.search("prefetch|prerender", self.headers.get("sec-purpose", self.headers.get("purpose", "")), re.I))

    def is_navigation(self):
        is_page = self.headers.get("sec-fetch-dest", "document") == "document" and "text/html" in self.headers.get("accept", "")
        is_bot = BOT.search(self.headers.get("user-agent", ""))
        return self.command == "GET" and is_page and not is_bot and not self.is_prefetch()

    def is_own_form(self):
        origin, site = self.headers.get("origin"), self.headers.get("sec-fetch-site")
        if site is None:
            return origin == SITE
        return site in ("same-origin", "none") and origin in (SITE, "null", None)

    # Sessions

    def begin(self, sso, user, pending=False):
        """Begins a session under a new ID, and ends the browser's old one."""
        now, key = time.time(), secrets.token_urlsafe(24)
        with LOCK:
            SESSIONS.pop(self.cookie("session"), None)
            SESSIONS[key] = {"key": key, "sso": sso, "user": user, "pending": pending, "checked": now, "verified": now,
                             "lock": threading.Lock()}
        self.set_cookie("session", key)

    def fresh(self, session, is_forced=False):
        """Checks an old session with the platform, one check at a time. Returns the session, or None when it has ended."""
        with session["lock"]:
            if session["sso"] in ENDED:
                session["user"] = None
                if session["sso"] not in LOGOUTS:
                    SESSIONS.pop(session["key"], None)
            elif is_forced or (time.time() - session["checked"] >= RECHECK and not PLATFORM["down"]):
                self.check(session)
        return SESSIONS.get(session["key"])

    def check(self, session):
        lks = "loggedin" if session["user"] else "anon"
        claims = call("sessionstatus", {"sid": session["sso"], "lks": lks, **self.device()})
        now = time.time()
        session["checked"] = now if claims else now - RECHECK + RETRY
        if not claims:
            return
        if claims["sts"] == "terminated" or claims["err"] == "session_not_found" or claims["sts"] != lks:
            SESSIONS.pop(session["key"], None)  # the next Identify redirect brings the state of the platform
        elif not claims["err"]:
            session["verified"] = now

    # Identify

    def binding(self, browser, path):
        return encode(mac(f"{browser} {path}", BINDING_KEY))

    def identify(self, path):
        browser = self.cookie("browser")
        if not browser:
            browser = secrets.token_urlsafe(24)
            self.set_cookie("browser", browser)
        if time.time() - PLATFORM["last"] > 2:
            threading.Thread(target=probe, daemon=True).start()
        back = SITE + with_parameter(path, f"sso={self.binding(browser, path)}")
        self.redirect(f'{ENV["SSO2_URL"]}/identify?t={sign({})}&r={quote(back, safe="")}', 302)

    def landing(self, query):
        if self.command != "GET" or self.is_prefetch():
            return self.respond(204)
        tokens, returns = query.get("t", []), query.get("r", [])
        found = re.fullmatch(r"(.*)[?&]sso=([\w-]{43})", returns[0]) if len(returns) == 1 else None
        path = path_here(found[1] if found else returns[0] if len(returns) == 1 else "/") or "/"
        browser = self.cookie("browser")
        is_bound = bool(browser and found and hmac.compare_digest(found[2], self.binding(browser, path)))
        claims = verify(tokens[0]) if len(tokens) == 1 else None
        is_usable = claims and not claims["err"] and (claims["sts"] == "anon" or (claims["sts"] == "loggedin" and claims["at"]))
        if not is_bound or not is_usable:
            return self.redirect(with_parameter(path, "sso-tried=1"))
        signature = tokens[0].rpartition(".")[2]
        with LOCK:
            is_first = signature not in USED
            USED[signature] = claims["exp"]
        if not is_first:
            return self.redirect(path)
        is_wanted = claims["sts"] == "loggedin" and claims["sid"] not in ENDED
        user = user_of(claims["at"]) if is_wanted else None
        with LOCK:
            is_ended = claims["sid"] in ENDED  # a logout may have come meanwhile
            self.begin(claims["sid"], None if is_ended else user, is_wanted and not user and not is_ended)
        self.redirect(path)

    # Pages

    def handle_request(self):
        self.cookies_to_set = []
        url = urlsplit(self.path)
        query = parse_qs(url.query, keep_blank_values=True)
        if url.path == LANDING:
            return self.landing(query)
        if not self.path.startswith("/") or self.path.startswith("//"):
            return self.respond(400, "<p>This address is not valid.</p>")
        session = SESSIONS.get(self.cookie("session"))
        session = self.fresh(session) if session else None
        is_shown = session and time.time() - session["verified"] < RECHECK + GRACE
        user = session["user"] if is_shown else None
        should_retry = session and session["pending"] and time.time() - session["checked"] > RETRY
        may_identify = self.is_navigation() and "sso-tried" not in query and not PLATFORM["down"]
        if may_identify and (not session or should_retry):
            return self.identify(self.path)
        if self.command == "POST":
            return self.post(url.path, session, user)
        self.page(url.path, query, session, user)

    do_GET = do_HEAD = do_POST = handle_request

    def page(self, path, query, session, user):
        name = html.escape(user["name"]) if user else ""
        if path == "/login":
            return self.respond(200, self.form(path_here(query.get("next", ["/"])[0]) or "/"))
        if path == "/logout":
            return self.respond(200, LOGOUT_FORMS)
        if path == "/":
            return self.respond(200, f"<p>Hello {name}</p><a href='/account'>Account</a>{LOGOUT_FORMS}" if user
                                else '<a href="/login?next=/">Log in</a>')
        if path not in ("/account", "/sensitive"):
            return self.respond(404, "<p>Not found</p>")
        if path == "/sensitive" and user:
            session = self.fresh(session, is_forced=True)
            if session and time.time() - session["verified"] > 5:
                return self.respond(503, "<p>This page does not work right now.</p>")
        if not user or not session:
            return self.redirect(f"/login?next={quote(path)}")
        self.respond(200, f"<h1>Account</h1><p>{name}</p><p>{html.escape(user['id'])}</p>")

    def form(self, back, message="", username=""):
        return f"""<h1>Log in</h1><p>{html.escape(message)}</p><form method="post" action="/login">
<input type="hidden" name="next" value="{html.escape(back)}">
<label>Username <input name="username" value="{html.escape(username)}"></label>
<label>Password <input name="password" type="password"></label><button>Log in</button></form>"""

    def post(self, path, session, user):
        length = self.headers.get("content-length", "0")
        if not length.isdigit() or int(length) > 32_000:
            self.close_connection = True
            return self.respond(413, "<p>This is too much.</p>")
        body = self.rfile.read(int(length)).decode("utf-8", "replace")
        if path not in ("/login", "/logout", "/logout-all"):
            return self.respond(404, "<p>Not found</p>")
        if not self.is_own_form():
            return self.respond(403, "<p>This form came from another site. <a href='/'>Start again</a></p>")
        if path == "/login":
            return self.login({name: values[0] for name, values in parse_qs(body, keep_blank_values=True).items()}, session)
        if session:
            self.logout(session, user, path == "/logout-all")
        self.redirect("/")

    def login(self, fields, session):
        back = path_here(fields.get("next", "/")) or "/"
        if not session:
            return self.redirect("/login")
        username, password = fields.get("username", ""), fields.get("password", "")
        attempt, user, message = (session["key"], username, password), None, NOT_NOW
        with LOCK:  # a second click on the button waits for the first one
            is_first = attempt not in LOGINS
            result = LOGINS.setdefault(attempt, Future())
        if is_first:
            result.set_result(call("authenticate", {"sid": session["sso"], "usr": username, "pwd": password, **self.device()}))
            LOGINS.pop(attempt)
        claims = result.result()
        if claims and claims["sts"] == "loggedin" and claims["at"] and not claims["err"]:
            with session["lock"]:  # the ticket is exchanged once
                user = session.get("typed") or user_of(claims["at"])
                session["typed"] = user
        if claims and claims["err"] in MESSAGES:
            message = MESSAGES[claims["err"]](claims)
        elif claims and (not user or session["sso"] in ENDED):
            SESSIONS.pop(session["key"], None)
            return self.redirect("/login")
        if not user:
            return self.respond(401 if claims else 503, self.form(back, message, username))
        self.begin(session["sso"], user)
        self.redirect(back)

    def logout(self, session, user, is_all):
        """Ends sessions here first. The platform is informed now, or by the worker."""
        with LOCK:
            for one in list(SESSIONS.values()):
                is_same_user = is_all and user and one["user"] and one["user"]["id"] == user["id"]
                if one["sso"] == session["sso"] or is_same_user:
                    SESSIONS.pop(one["key"])
                    ENDED.add(one["sso"])
                    LOGOUTS[one["sso"]] = self.device()
        if is_all and user:
            call("logoutall", {"aid": user["id"], **self.device()})
        elif not PLATFORM["down"] and call("logout", {"sid": session["sso"], **self.device()}):
            LOGOUTS.pop(session["sso"], None)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    threading.Thread(target=work, daemon=True).start()
    Server(("127.0.0.1", int(ENV["PORT"])), Site).serve_forever()
