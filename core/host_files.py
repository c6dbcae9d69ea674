"""Keep what took long to read as files of this host, so that a new process begins with it.

The files are a cache: they can be deleted at any time, and every host has its own. Readers check
that a value still fits the database.
"""

import hmac
import os
import pickle
import secrets
from contextlib import suppress
from pathlib import Path
from time import time
from typing import Any

from django.conf import settings

# Files that nobody has written for so long are deleted.
UNUSED_SECONDS = 30 * 24 * 3600
DIGEST = "sha256"
SIGNATURE = 32


def read_host_file(name: str, key: tuple[Any, ...]) -> Any:
    """Return what was written under a name and an equal key by this version; None without it."""
    # A class that was moved since, in development, makes a value that cannot be read.
    with suppress(OSError, AttributeError, ImportError):
        raw = _path(name).read_bytes()
        signature, text = raw[:SIGNATURE], raw[SIGNATURE:]
        # Only what this version of the site has signed is read: unpickling runs code.
        if hmac.compare_digest(signature, _signature(key, text)):
            return pickle.loads(text)  # noqa: S301
    return None


def write_host_file(name: str, key: tuple[Any, ...], value: Any) -> None:
    """Write a value in place of an earlier one of that name, unless the host has no room for it."""
    path = _path(name)
    text = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    part = path.with_name(f".{secrets.token_hex(16)}")
    with suppress(OSError):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            part.write_bytes(_signature(key, text) + text)
            os.replace(part, path)
        finally:
            part.unlink(missing_ok=True)
        for other in path.parent.iterdir():
            if other.stat().st_mtime < time() - UNUSED_SECONDS:
                other.unlink(missing_ok=True)


def _path(name: str) -> Path:
    return Path(settings.VAR_DIR) / "sums" / name


def _signature(key: tuple[Any, ...], text: bytes) -> bytes:
    own = f"core.host_files:{settings.SECRET_KEY}"
    of = f"{settings.VERSION}\0{key!r}\0"
    return hmac.digest(own.encode(), of.encode() + text, DIGEST)
