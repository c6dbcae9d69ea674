"""A small OpenID provider on this machine: discovery, authorization, token and keys.

It checks what a provider has to check (client, redirect, PKCE, codes that work once), and `twist`
lets a test change a token before it is signed, or sign it by another key.
"""

import base64
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

CLIENT, SECRET = "touchstone", "only between the two"


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


class Provider:
    """One person is signed in at a time: `person` is what tokens say of them."""

    def __init__(self, issuer: str) -> None:
        self.issuer, self.key, self.kid = issuer, new_key(), "first"
        self.person: dict[str, Any] = {"sub": "person-1", "preferred_username": "mei"}
        self.codes: dict[str, dict[str, str]] = {}
        self.sign: Callable[[dict[str, Any]], str] = self.signed
        self.twist: Callable[[dict[str, Any]], dict[str, Any]] = lambda claims: claims
        self.asked: list[dict[str, str]] = []

    def signed(self, claims: dict[str, Any], key: Any = None, algorithm: str = "RS256") -> str:
        return jwt.encode(claims, key or self.key, algorithm, headers={"kid": self.kid})

    def authorize(self, given: dict[str, str]) -> str:
        assert given["client_id"] == CLIENT
        assert given["response_type"] == "code"
        assert "openid" in given["scope"].split()
        assert given["code_challenge_method"] == "S256"
        self.asked.append(given)
        code = secrets.token_urlsafe(16)
        self.codes[code] = given
        back = {"code": code, "state": given["state"]}
        return f"{given['redirect_uri']}?{urlencode(back)}"

    def token(self, given: dict[str, str]) -> dict[str, Any] | None:
        asked = self.codes.pop(given.get("code", ""), None)
        digest = hashlib.sha256(given.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        if (
            asked is None
            or asked["code_challenge"] != challenge
            or asked["redirect_uri"] != given["redirect_uri"]
            or (given.get("client_id"), given.get("client_secret")) != (CLIENT, SECRET)
        ):
            return None
        now = int(time.time())
        claims = {
            "iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 300,
            "nonce": asked["nonce"], "auth_time": now,
        }  # fmt: skip
        token = self.sign(self.twist(claims | self.person))
        return {"access_token": "opaque", "token_type": "Bearer", "id_token": token}

    def description(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
        }

    def keys(self) -> dict[str, Any]:
        algorithm = jwt.algorithms.RSAAlgorithm
        public = json.loads(algorithm.to_jwk(self.key.public_key()))
        return {"keys": [public | {"kid": self.kid, "use": "sig", "alg": "RS256"}]}


@contextmanager
def running() -> Iterator[Provider]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    provider = Provider(f"http://127.0.0.1:{server.server_port}")
    server.provider = provider  # type: ignore[attr-defined]
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield provider
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        """Keep quiet."""

    def do_GET(self) -> None:
        provider = self.server.provider  # type: ignore[attr-defined]
        path = urlsplit(self.path)
        if path.path == "/authorize":
            given = {name: values[0] for name, values in parse_qs(path.query).items()}
            self.send_response(302)
            self.send_header("Location", provider.authorize(given))
            self.end_headers()
        elif path.path == "/keys":
            self._answer(200, provider.keys())
        else:
            self._answer(200, provider.description())

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        given = {name: values[0] for name, values in parse_qs(body).items()}
        answer = self.server.provider.token(given)  # type: ignore[attr-defined]
        self._answer(200 if answer else 400, answer or {"error": "invalid_grant"})

    def _answer(self, status: int, value: dict[str, Any]) -> None:
        body = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
