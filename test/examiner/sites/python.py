"""A site in Python without any framework, by hand from the interface. It verifies tokens with care, and forgets the rest.

Run it with the settings that `express-sso2 examine --settings` prints, and PORT.
"""
import base64
import hashlib
import hmac
import html
import json
import os
import secrets
import time
import urllib.error
import urllib.parse
import urllib.request
from http.cookies import SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ENV = os.environ
SECRET = ENV["SSO2_CLIENT_SECRET"].encode()
SITE = ENV["SSO2_SITE_URL"]
RECHECK = int(ENV.get("RECHECK_SECONDS", "360"))
SESSIONS = {}


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decode(text):
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode(data) != text:
        raise ValueError("spelling")
    return data


def sign(claims):
    now = int(time.time())
    claims = {"cid": ENV["SSO2_CLIENT_ID"], "nbf": now, "iat": now, "exp": now + 10,
              "iss": ENV["SSO2_ORGANISATION_ID"], "aud": ENV["SSO2_IDENTIFIER"], **claims}
    head = encode(b'{"alg":"HS256","typ":"JWT"}') + "." + encode(json.dumps(claims).encode())
    return head + "." + encode(hmac.new(SECRET, head.encode(), hashlib.sha256).digest())


def verify(token):
    """The claims of a Session Token, or None."""
    try:
        if len(token) > 8000:
            return None
        head, body, mac = token.split(".")
        if json.loads(decode(head)) != {"alg": "HS256", "typ": "JWT"}:
            return None
        expected = hmac.new(SECRET, f"{head}.{body}".encode(), hashlib.sha256).digest()
        if not hmac.compare_digest(expected, decode(mac)):
            return None
        claims, now = json.loads(decode(body)), time.time()
        if claims["iss"] != ENV["SSO2_IDENTIFIER"] or claims["aud"] != ENV["SSO2_CLIENT_ID"]:
            return None
        return claims if claims["nbf"] - 5 <= now < claims["exp"] + 5 and "sts" in claims else None
    except (ValueError, KeyError, TypeError):
        return None


def call(operation, claims):
    body = json.dumps({"t": sign(claims)}).encode()
    request = urllib.request.Request(f'{ENV["SSO2_URL"]}/{operation}', body, {"content-type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=2) as response:
            return verify(json.load(response)["t"])
    except (OSError, ValueError, KeyError):
        return None


def user_of(ticket):
    form = urllib.parse.urlencode({"grant_type": "authorization_code", "code": ticket, "client_id": ENV["SSO2_CLIENT_ID"],
                                   "client_secret": ENV["SSO2_CLIENT_SECRET"]}).encode()
    try:
        with urllib.request.urlopen(ENV["SSO2_TOKEN_URL"], form, timeout=2) as response:
            token = json.load(response)["access_token"]
        request = urllib.request.Request(f'{ENV["SSO2_API_URL"]}/external/api/v1/me', headers={"authorization": f"Bearer {token}"})
        with urllib.request.urlopen(request, timeout=2) as response:
            return json.load(response)["item"]
    except (OSError, ValueError, KeyError):
        return None


class Site(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def send(self, status, body="", location=None, sid=None):
        self.send_response(status)
        self.send_header("content-type", "text/html; charset=utf-8")
        self.send_header("cache-control", "private, no-store")
        self.send_header("content-length", str(len(body.encode())))
        if location:
            self.send_header("location", location)
        if sid:
            self.send_header("set-cookie", f"sid={sid}; HttpOnly; SameSite=Lax; Path=/")
        self.end_headers()
        self.wfile.write(body.encode())

    def device(self):
        return {"ipa": self.client_address[0], "uas": self.headers.get("user-agent", "")}

    def session(self):
        morsel = SimpleCookie(self.headers.get("cookie", "")).get("sid")
        return SESSIONS.get(morsel.value) if morsel else None

    def new_session(self, claims, user):
        sid = secrets.token_urlsafe(24)
        SESSIONS[sid] = {"id": sid, "sso": claims["sid"], "user": user, "checked": time.time()}
        return sid

    def identify(self):
        back = urllib.parse.quote(SITE + self.path, safe="")
        self.send(302, location=f'{ENV["SSO2_URL"]}/identify?t={sign({})}&r={back}')

    def landing(self, query):
        claims = verify(query.get("t", [""])[0])
        back = query.get("r", ["/"])[0]
        back = back if back.startswith(SITE + "/") else "/"
        if not claims:
            return self.send(400, "<p>This link is not valid. <a href='/'>Start again</a></p>")
        user = user_of(claims["at"]) if claims["sts"] == "loggedin" and claims["at"] else None
        self.send(303, location=back, sid=self.new_session(claims, user))

    def fresh(self, session):
        if time.time() - session["checked"] < RECHECK:
            return True
        lks = "loggedin" if session["user"] else "anon"
        claims = call("sessionstatus", {"sid": session["sso"], "lks": lks, **self.device()})
        if claims and claims.get("sid") == session["sso"]:
            if claims["sts"] == "terminated":
                SESSIONS.pop(session["id"], None)
                return False
            if claims["sts"] == "loggedin" and claims["at"]:
                session["user"] = user_of(claims["at"])
            session["checked"] = time.time()
        return True

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/sso2/landing":
            return self.landing(urllib.parse.parse_qs(url.query))
        session = self.session()
        if not session or not self.fresh(session):
            return self.identify()
        if url.path == "/login":
            return self.send(200, self.form())
        if url.path != "/":
            return self.send(404, "<p>Not found</p>")
        user = session["user"]
        if not user:
            return self.send(200, '<a href="/login">Log in</a>')
        self.send(200, f'<p>{html.escape(user["name"])}</p><form method="post" action="/logout"><button>Log out</button></form>')

    def form(self, message="", username=""):
        return (f'<p>{html.escape(message)}</p><form method="post" action="/login"><input name="username" value="{html.escape(username)}">'
                '<input name="password" type="password"><button>Log in</button></form>')

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", "0"))).decode()
        fields = {name: values[0] for name, values in urllib.parse.parse_qs(body).items()}
        session = self.session()
        if self.headers.get("origin") != SITE:
            return self.send(403, "<p>This form came from another site.</p>")
        if not session:
            return self.send(303, location="/login")
        if self.path == "/logout":
            SESSIONS.pop(session["id"], None)
            call("logout", {"sid": session["sso"], **self.device()})
            return self.send(303, location="/")
        username = fields.get("username", "")
        claims = call("authenticate", {"sid": session["sso"], "usr": username, "pwd": fields.get("password", ""), **self.device()})
        if not claims:
            return self.send(503, self.form("Not now. Please try again in a minute.", username))
        if claims["err"]:
            if claims["err"] in ("session_terminated", "session_not_found"):
                SESSIONS.pop(session["id"], None)
                return self.send(303, location="/login")
            return self.send(401, self.form(f'{claims["err"]}: {claims["raa"]} attempts left', username))
        SESSIONS.pop(session["id"], None)
        self.send(303, location="/", sid=self.new_session(claims, user_of(claims["at"])))


ThreadingHTTPServer(("127.0.0.1", int(ENV["PORT"])), Site).serve_forever()
