"""A good site in Python, with the standard library alone. The examiner must find nothing to fix here.

It keeps everything in the memory of one process and never tidies up, so copy its ideas and not its dictionaries.
Run it with the settings that `express-sso2 examine --settings` prints, and PORT. All times are in seconds.
"""
import base64
import hashlib
import hmac
import html
import http.client
import json
import math
import os
import re
import secrets
import sys
import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, parse_qsl, quote, urlencode, urlsplit

ENV = os.environ
SITE = ENV["SSO2_SITE_URL"].rstrip("/")
LANDING = urlsplit(ENV.get("SSO2_LANDING", "/sso2/landing")).path
CLIENT_ID = ENV["SSO2_CLIENT_ID"]
CLIENT_SECRET = ENV["SSO2_CLIENT_SECRET"]
SSO_SYSTEM = ENV["SSO2_IDENTIFIER"]
RECHECK = int(ENV.get("RECHECK_SECONDS", "360"))  # a session that was not checked for so long is old
GRACE = int(ENV.get("GRACE_SECONDS", "900"))  # so much longer a user stays known while the platform is down

CALL_TIMEOUT = 2
RETRY_AFTER = 2
LEEWAY = 5  # difference between the clocks of the site and of the platform
MAX_FAILURES = 3  # in a row, then the platform counts as down
MAX_BODY = 64_000  # bytes
MAX_TOKEN = 8000
BOT = re.compile("(?<!cu)bot|crawl|spider|slurp", re.I)  # CUBOT makes phones
MARK_SECONDS = 30
COOKIE_FLAGS = "HttpOnly; SameSite=Lax; Path=/" + ("; Secure" if SITE.startswith("https:") else "")
BINDING_KEY = secrets.token_bytes(32)

LOCK = threading.RLock()  # for changes of several entries at once
SESSIONS = {}  # by the value of the session cookie
USED_TOKENS = set()  # signatures of landing tokens
ENDED = {}  # SSO sessions that were logged out here, and whether the platform knows
LOGOUTS = deque()  # logouts that the platform does not know
RUNNING = {}  # work that several requests wait for


# Tokens

def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode(data) != text:
        raise ValueError("the text is not canonical base64url")
    return data


def mac(text, key=CLIENT_SECRET.encode()):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


def sign(claims):
    now = int(time.time())
    times = {"nbf": now, "iat": now, "exp": now + 10}
    parties = {"cid": CLIENT_ID, "iss": ENV["SSO2_ORGANISATION_ID"], "aud": SSO_SYSTEM}
    parts = ({"alg": "HS256", "typ": "JWT"}, {**times, **parties, **claims})
    signed = ".".join(encode(json.dumps(part).encode()) for part in parts)
    return f"{signed}.{encode(mac(signed))}"


def verify(token):
    """The claims of a Session Token, or None. Nothing is read before the signature is known to be right."""
    try:
        head, body, signature = token.split(".")
        if len(token) > MAX_TOKEN or not hmac.compare_digest(mac(f"{head}.{body}"), decode(signature)):
            return None
        header, claims = json.loads(decode(head)), json.loads(decode(body))
        is_session_token = (
            header["alg"] == "HS256"
            and header["typ"] == "JWT"
            and claims["iss"] == SSO_SYSTEM
            and claims["aud"] == CLIENT_ID
            and claims["nbf"] - LEEWAY <= time.time() < claims["exp"] + LEEWAY
            and claims["sts"] in ("anon", "loggedin", "terminated")
        )
        return claims if is_session_token else None
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


# Calls of the platform

class Health:
    """What the latest calls tell about the platform."""
    failures = 0  # in a row
    responded_at = 0
    is_doubted = threading.Event()

    def is_down(self):
        return self.failures >= MAX_FAILURES


HEALTH = Health()


def request(method, address, headers, body=None):
    """Sends a request. Returns the status, or 0, and the JSON object of a response 200, or {}."""
    url, deadline = urlsplit(address), time.monotonic() + CALL_TIMEOUT
    Connection = http.client.HTTPSConnection if url.scheme == "https" else http.client.HTTPConnection
    connection = Connection(url.netloc, timeout=CALL_TIMEOUT)
    try:
        connection.request(method, url.path, body, headers)
        response, text = connection.getresponse(), b""
        while chunk := response.read1(MAX_BODY):
            text += chunk
            if len(text) > MAX_BODY or time.monotonic() > deadline:
                return 0, {}
        value = json.loads(text) if response.status == 200 else {}
        return response.status, value if isinstance(value, dict) else {}
    except (OSError, http.client.HTTPException, ValueError, RecursionError):
        return 0, {}
    finally:
        connection.close()


def call(operation, claims):
    """Calls an SSO2 operation once. Returns the verified claims, or None."""
    body = json.dumps({"t": sign(claims)})
    _, value = request("POST", f'{ENV["SSO2_URL"]}/{operation}', {"content-type": "application/json"}, body)
    answer = verify(value.get("t"))
    if answer:
        HEALTH.failures, HEALTH.responded_at = 0, time.time()
    else:
        HEALTH.failures += 1
    return answer


def user_of(ticket):
    """Exchanges a ticket and loads its user. Returns None when either fails."""
    form = {"grant_type": "authorization_code", "code": ticket, "client_id": CLIENT_ID, "client_secret": CLIENT_SECRET}
    headers = {"content-type": "application/x-www-form-urlencoded"}
    try:
        _, token = request("POST", ENV["SSO2_TOKEN_URL"], headers, urlencode(form))
        bearer = {"authorization": f'Bearer {token["access_token"]}', "accept": "application/json"}
        _, user = request("GET", ENV["SSO2_API_URL"] + "/external/api/v1/me", bearer)
        item = user["item"]
        if not isinstance(item["account_id"], str) or not item["account_id"]:
            return None
        return {"id": item["account_id"], "name": str(item["name"])}
    except (KeyError, TypeError):
        return None


def once(key, work):
    """Does work once for all requests that want the same at the same time. All get the same result, or exception."""
    with LOCK:
        is_first = key not in RUNNING
        future = RUNNING.setdefault(key, Future())
    if is_first:
        try:
            future.set_result(work())
        except Exception as error:
            future.set_exception(error)
        del RUNNING[key]
    return future.result()


# Sessions

@dataclass
class Session:
    id: str
    sid: str
    user: dict | None
    is_pending: bool  # a user is logged in at the platform, and could not be loaded
    checked_at: float  # the latest attempt to check
    verified_at: float  # the latest response about the session


def fresh(session, device):
    """Checks an old session with the platform. Returns the session, or None when it has ended."""
    if session.sid in ENDED:
        session.user = None
        if ENDED[session.sid]:  # Identify gives a new SSO session now
            SESSIONS.pop(session.id, None)
    elif not HEALTH.is_down():
        once(("status", session.id), lambda: check_status(session, device))
    return SESSIONS.get(session.id)


def check_status(session, device):
    if time.time() - session.checked_at < RECHECK:
        return
    status = "loggedin" if session.user else "anon"
    claims = call("sessionstatus", {"sid": session.sid, "lks": status, **device})
    now = time.time()
    session.checked_at = now if claims else now - RECHECK + RETRY_AFTER
    error = claims.get("err") if claims else None
    if error == "session_not_found":
        SESSIONS.pop(session.id, None)
    if not claims or error or claims.get("sid") != session.sid:
        return
    session.verified_at = now
    if claims["sts"] == "anon":
        session.user = None
    # after a login elsewhere, the next Identify redirect logs the user in under a new session ID
    if claims["sts"] == "terminated" or (claims["sts"] == "loggedin" and not session.user):
        SESSIONS.pop(session.id, None)


def end_sessions(sids, operation, claims):
    """Ends sessions here first. The platform is informed now, or later."""
    with LOCK:
        ENDED.update(dict.fromkeys(sids, False))
        for session in list(SESSIONS.values()):
            if session.sid in sids:
                del SESSIONS[session.id]
    if HEALTH.is_down() or not inform(sids, operation, claims):
        LOGOUTS.append((sids, operation, claims))


def inform(sids, operation, claims):
    """Informs the platform of a logout. Returns whether it knows."""
    answer = call(operation, claims)
    if not answer or answer.get("err") == "invalid_token":
        return False
    ENDED.update(dict.fromkeys(sids, True))
    return True


def watch_platform():
    """Asks a platform that may be down whether it responds, and sends the logouts that it has missed."""
    while True:
        may_be_down = HEALTH.is_doubted.wait(timeout=1) or HEALTH.is_down()
        HEALTH.is_doubted.clear()
        if may_be_down:
            call("sessionstatus", {"sid": "probe", "lks": "anon", "ipa": "127.0.0.1", "uas": "probe"})
        while LOGOUTS and not HEALTH.is_down() and inform(*LOGOUTS[0]):
            LOGOUTS.popleft()


# Login

class LoginFailed(Exception):
    """A login failed: the status of the page, and the message for the user."""


NOT_NOW = "Logging in does not work right now. Please try again in a minute."
SESSION_ERRORS = ("session_terminated", "session_not_found", "session_already_logged_in_on_another_account")
MESSAGES = {
    "invalid_credentials": "Username or password is wrong. {attempts} attempts are left.",
    "account_frozen": "The account is locked for {hours} hours.",
    "account_not_active": "The account is not active. Please contact us.",
    "session_limit_reached": "You are logged in on too many devices. Log out on one of them.",
    "invalid_otp": "The one-time password is not valid.",
    "otp_consumed_or_expired": "The one-time password is not valid any more.",
}


def log_in(sid, username, password, device):
    """Returns the user. Returns None when Identify must begin the SSO session again."""
    claims = call("authenticate", {"sid": sid, "usr": username, "pwd": password, **device})
    if not claims:
        raise LoginFailed(503, NOT_NOW)
    error = claims.get("err")
    if error in SESSION_ERRORS:
        return None
    if error:
        message = MESSAGES.get(error, "The login did not work.")
        hours = math.ceil((claims.get("frf") or 0) / 3600)
        raise LoginFailed(401, message.format(attempts=claims.get("raa"), hours=hours))
    if claims.get("sid") != sid or claims["sts"] != "loggedin" or not claims.get("at"):
        raise LoginFailed(503, NOT_NOW)
    return user_of(claims["at"])


def login_form(back, message="", username=""):
    return f"""<h1>Log in</h1><p>{html.escape(message)}</p>
<form method="post" action="/login"><input type="hidden" name="next" value="{html.escape(back)}">
<label>Username <input name="username" value="{html.escape(username)}"></label>
<label>Password <input name="password" type="password"></label><button>Log in</button></form>"""


LOGOUT_FORM = '<form method="post" action="/logout"><button>Log out</button></form>'


# Addresses

def here(address):
    """Path and query of an address of this site. Any other address becomes the front page."""
    path = address.removeprefix(SITE)
    return path if re.fullmatch(r"/(?!/)[!-\[\]-~]*", path) else "/"


def with_parameter(path, parameter):
    return f'{path}{"&" if "?" in path else "?"}{parameter}'


def binding_of(browser, path):
    """Binds an Identify redirect to the browser that it was sent to."""
    return encode(mac(f"{browser} {path}", BINDING_KEY))


class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True  # headers and page are written one after the other
    timeout = 30
    server_version, sys_version = "site", ""

    def log_message(self, *_):
        """Writes no addresses, because they hold tokens."""

    # Requests and responses

    def do_GET(self):
        path, _, query = self.path.partition("?")
        self.query = parse_qs(query, keep_blank_values=True)
        self.cookies, self.session, self.user = [], None, None
        self.device = {"ipa": self.client_address[0], "uas": self.headers.get("user-agent", "")}
        try:
            self.fields = self.read_form()
            self.respond(path)
        except ConnectionError:
            self.close_connection = True
        except Exception as error:
            print("request failed:", self.command, type(error).__name__, file=sys.stderr)
            self.send(500, "<p>This request could not be answered.</p>")

    do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = do_GET

    def read_form(self):
        """The fields of a form, or None when it cannot be read."""
        length = self.headers.get("content-length", "0")
        if "transfer-encoding" in self.headers or not re.fullmatch(r"\d{1,6}", length) or int(length) > MAX_BODY:
            self.close_connection = True
            return None
        return dict(parse_qsl(self.rfile.read(int(length)).decode(errors="replace"), keep_blank_values=True))

    def respond(self, path):
        if self.fields is None:
            return self.send(413, "<p>This form could not be read.</p>")
        if path == LANDING:
            return self.landing()
        found = SESSIONS.get(self.cookie("session"))
        session = self.session = found and fresh(found, self.device)
        is_in_grace = session and time.time() - session.verified_at <= RECHECK + GRACE
        self.user = session.user if is_in_grace else None
        is_retry = session and session.is_pending and time.time() - session.checked_at > RETRY_AFTER
        if (not session or is_retry) and self.may_identify():
            return self.identify()
        page = self.PAGES.get(("GET" if self.command == "HEAD" else self.command, path))
        if not page:
            return self.send(404, "<p>There is no such page.</p>")
        if self.command == "POST" and self.headers.get("origin") != SITE:
            return self.send(403, '<p>This form came from another site. <a href="/">Start again</a></p>')
        page(self)

    def send(self, status, body="", location=None):
        content = f'<!doctype html><html lang="en"><title>A site</title>{body}</html>'.encode()
        self.send_response(status)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("content-length", str(len(content)))
        self.send_header("cache-control", "private, no-store")
        self.send_header("content-security-policy", "default-src 'self'; frame-ancestors 'none'")
        self.send_header("referrer-policy", "same-origin")
        for name, value in self.cookies:
            self.send_header("set-cookie", f"{name}={value}; {COOKIE_FLAGS}")
        if location:
            self.send_header("location", location)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def redirect(self, path):
        self.send(303, location=SITE + path)

    def cookie(self, name):
        pairs = (pair.strip().partition("=") for pair in self.headers.get("cookie", "").split(";"))
        return next((value for key, _, value in pairs if key == name), "")

    # Identify

    def is_prefetch(self):
        purpose = self.headers.get("sec-purpose") or self.headers.get("purpose") or ""
        return re.search("prefetch|prerender", purpose, re.I)

    def may_identify(self):
        """A user opens a page: a redirect to the platform makes sense, and was not tried just now."""
        is_navigation = self.headers.get("sec-fetch-dest") in (None, "document") and not self.is_prefetch()
        wants_page = "text/html" in self.headers.get("accept", "")
        is_user = not BOT.search(self.headers.get("user-agent", ""))
        is_page_load = self.command == "GET" and is_navigation and wants_page and is_user
        tried_at = re.sub("[^0-9]", "", self.query.get("sso-tried", [""])[-1]) or "0"
        was_tried = abs(time.time() - int(tried_at)) < MARK_SECONDS  # the address may be shared
        return is_page_load and not was_tried and not HEALTH.is_down()

    def identify(self):
        browser, path = self.cookie("browser"), here(self.path)
        if not browser:
            browser = secrets.token_urlsafe(24)
            self.cookies.append(("browser", browser))
        if time.time() - HEALTH.responded_at > 2:
            HEALTH.is_doubted.set()  # a browser that is sent to a dead platform cannot tell
        back = SITE + with_parameter(path, f"sso={binding_of(browser, path)}")
        self.send(302, location=f'{ENV["SSO2_URL"]}/identify?t={sign({})}&r={quote(back, safe="")}')

    def landing(self):
        """Takes the token that Identify gives to the browser."""
        if self.command != "GET" or self.is_prefetch():
            return self.send(403, "<p>Open this address in a browser.</p>")
        token, back = (values[0] if len(values := self.query.get(name, [])) == 1 else "" for name in ("t", "r"))
        page, _, binding = back.rpartition("sso=")
        path = here(page[:-1])
        unserved = with_parameter(path, f"sso-tried={int(time.time())}")
        browser, claims = self.cookie("browser"), verify(token)
        is_bound = browser and hmac.compare_digest(binding.encode(), binding_of(browser, path).encode())
        if not claims or claims.get("err") or not is_bound:
            return self.redirect(unserved)
        current = SESSIONS.get(self.cookie("session"))
        if claims["sts"] == "anon" and current and current.user and current.sid == claims["sid"]:
            return self.redirect(path)  # older than the login in another tab
        with LOCK:
            signature = token.rpartition(".")[2]
            is_used = signature in USED_TOKENS
            USED_TOKENS.add(signature)
        if is_used:
            return self.redirect(path)
        is_loggedin = claims["sts"] == "loggedin"
        if claims["sts"] == "terminated" or (is_loggedin and not claims.get("at")):
            return self.redirect(unserved)
        is_wanted = is_loggedin and claims["sid"] not in ENDED
        user = user_of(claims["at"]) if is_wanted else None
        self.begin_session(claims["sid"], user, is_pending=is_wanted and not user)
        self.redirect(path)

    def begin_session(self, sid, user, is_pending=False):
        """Begins a session under a new ID. The browser's old session ends."""
        now = time.time()
        with LOCK:
            if sid in ENDED:  # a logout may have come meanwhile
                user, is_pending = None, False
            SESSIONS.pop(self.cookie("session"), None)
            session = Session(secrets.token_urlsafe(24), sid, user, is_pending, now, now)
            SESSIONS[session.id] = session
        self.cookies.append(("session", session.id))

    # Pages

    def front_page(self):
        if not self.user:
            return self.send(200, '<a href="/login?next=/">Log in</a>')
        self.send(200, f'<p>Hello {html.escape(self.user["name"])}</p><a href="/devices">Devices</a>{LOGOUT_FORM}')

    def devices_page(self):
        """The only page that shows this form, whose hidden field is bound to the browser."""
        field = f'<input type="hidden" name="form_token" value="{self.form_token()}">'
        self.send(200, f'<form method="post" action="/logout-all">{field}<button>Log out of all sessions</button></form>')

    def form_token(self):
        return encode(mac(f'form {self.cookie("browser")}', BINDING_KEY))

    def login_page(self):
        self.send(200, login_form(here(self.query.get("next", ["/"])[0])))

    def post_login(self):
        back, session = here(self.fields.get("next", "/")), self.session
        username, password = self.fields.get("username", ""), self.fields.get("password", "")
        if not session:
            return self.redirect("/login")
        try:
            user = once((session.id, username, password), lambda: log_in(session.sid, username, password, self.device))
        except LoginFailed as failure:
            status, message = failure.args
            return self.send(status, login_form(back, message, username))
        if not user:
            SESSIONS.pop(session.id, None)
            return self.redirect("/login?" + urlencode({"next": back}))
        self.begin_session(session.sid, user)
        self.redirect(back)

    def post_logout(self):
        if self.session:
            end_sessions({self.session.sid}, "logout", {"sid": self.session.sid, **self.device})
        self.redirect("/")

    def post_logout_all(self):
        if not self.user or self.fields.get("form_token") != self.form_token():
            return self.redirect("/login")
        account = self.user["id"]
        sids = {one.sid for one in list(SESSIONS.values()) if one.user and one.user["id"] == account}
        end_sessions(sids, "logoutall", {"aid": account, **self.device})
        self.redirect("/")

    PAGES = {
        ("GET", "/"): front_page,
        ("GET", "/devices"): devices_page,
        ("GET", "/login"): login_page,
        ("POST", "/login"): post_login,
        ("POST", "/logout"): post_logout,
        ("POST", "/logout-all"): post_logout_all,
    }


ThreadingHTTPServer.request_queue_size = 128
threading.Thread(target=watch_platform, daemon=True).start()
ThreadingHTTPServer(("127.0.0.1", int(ENV["PORT"])), Site).serve_forever()
