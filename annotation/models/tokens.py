"""Tokens of personal links: 256 random bits, of which only the SHA-256 is stored."""

import hashlib
import secrets


def hash_token(token: str) -> str:
    """Return what is stored of a token: 64 hexadecimal digits."""
    return hashlib.sha256(token.encode()).hexdigest()


def new_token() -> tuple[str, str]:
    """Return a fresh token and its hash; the token itself is shown once and kept nowhere."""
    token = secrets.token_urlsafe(32)
    return token, hash_token(token)
