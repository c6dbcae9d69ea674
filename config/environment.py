"""Read environment variables, and refuse invalid values by name."""

import ipaddress
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key

# Seconds until a silent bucket is tried once more, and until that is an error.
BUCKET_SECONDS = 5
_TRUE, _FALSE = {"1", "true", "yes", "on"}, {"", "0", "false", "no", "off"}


def env_bool(name: str, default: bool) -> bool:
    """Read a switch; raises ImproperlyConfigured for anything but yes/no words."""
    value = os.environ.get(name, "yes" if default else "no").strip().lower()
    if value not in _TRUE | _FALSE:
        raise ImproperlyConfigured(f"{name} must be yes or no, not {value!r}.")
    return value in _TRUE


def env_choice(name: str, default: str, choices: Iterable[str]) -> str:
    """Read one of some words; raises ImproperlyConfigured for any other."""
    value = os.environ.get(name, default).strip().lower()
    if value not in set(choices):
        raise ImproperlyConfigured(f"{name} must be {' or '.join(choices)}, not {value!r}.")
    return value


def env_int(name: str, default: int) -> int:
    """Read a whole number; raises ImproperlyConfigured for anything else."""
    value = os.environ.get(name, str(default))
    try:
        return int(value)
    except ValueError:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}.") from None


def env_list(name: str, default: str) -> list[str]:
    """Read a comma-separated list; blanks are dropped."""
    return [part.strip() for part in os.environ.get(name, default).split(",") if part.strip()]


def env_networks(name: str) -> list[str]:
    """Read IP addresses and networks, or the word `unix`; refuses anything else."""
    values = env_list(name, "")
    for value in values:
        try:
            value == "unix" or ipaddress.ip_network(value)
        except ValueError:
            raise ImproperlyConfigured(
                f"{name} must list addresses or networks such as 10.0.0.0/24, not {value!r}."
            ) from None
    return values


def email_settings(url: str) -> dict[str, Any]:
    """Return Django's e-mail settings for `smtp://`, `smtp+tls://`, `smtps://` or `console:`.

    User name and password may be percent-encoded. Raises ImproperlyConfigured, without the
    password, for anything else.
    """
    ports = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
    backend = "django.core.mail.backends."
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ImproperlyConfigured("EMAIL_URL is not the address of a mail server.") from None
    if parts.scheme == "console":
        return {"EMAIL_BACKEND": f"{backend}console.EmailBackend"}
    if parts.scheme not in ports or not parts.hostname:
        raise ImproperlyConfigured(
            "EMAIL_URL must be console: or look like smtp+tls://user:password@host:587."
        )
    return {
        "EMAIL_BACKEND": f"{backend}smtp.EmailBackend",
        "EMAIL_HOST": parts.hostname,
        "EMAIL_PORT": port or ports[parts.scheme],
        "EMAIL_HOST_USER": unquote(parts.username or ""),
        "EMAIL_HOST_PASSWORD": unquote(parts.password or ""),
        "EMAIL_USE_TLS": parts.scheme == "smtp+tls",
        "EMAIL_USE_SSL": parts.scheme == "smtps",
        "EMAIL_TIMEOUT": 10,
    }


_ENDPOINT_FIELDS = {
    "name": str,
    "url": str,
    "key_variable": str,
    "connections": int,
    "allow_private": bool,
    "prompt_price": (int, float),
    "completion_price": (int, float),
    "currency": str,
    "priced_on": str,
    "timeout": (int, float),
}


def judge_endpoints(text: str) -> list[dict[str, Any]]:
    """Read the endpoints of judges, a JSON list of objects; refuse invalid ones by field."""
    try:
        listed = json.loads(text or "[]")
    except ValueError:
        raise ImproperlyConfigured("JUDGE_ENDPOINTS is not JSON.") from None
    if not isinstance(listed, list) or not all(isinstance(each, dict) for each in listed):
        raise ImproperlyConfigured("JUDGE_ENDPOINTS must be a list of objects.")
    names = [each.get("name") for each in listed]
    for number, each in enumerate(listed, start=1):
        if problem := _endpoint_problem(each):
            who = each.get("name") or number
            raise ImproperlyConfigured(f"JUDGE_ENDPOINTS, endpoint {who}: {problem}")
        if names.count(each["name"]) > 1:
            raise ImproperlyConfigured(f"JUDGE_ENDPOINTS has two endpoints named {each['name']}.")
    return listed


def _endpoint_problem(given: dict[str, Any]) -> str:
    for field, value in given.items():
        kind: Any = _ENDPOINT_FIELDS.get(field)
        if kind is None:
            return f"there is no field {field!r}."
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            return f"{field} has a value of the wrong type."
    if not re.fullmatch(r"[a-z0-9][a-z0-9.-]{0,39}", given.get("name", "")):
        return "name must have 1 to 40 characters of a-z, 0-9, . and -."
    # A key itself would be shown here; it belongs into the named variable.
    if not re.fullmatch(r"([A-Z][A-Z0-9_]*)?", given.get("key_variable", "")):
        return "key_variable must be the name of an environment variable, in capitals."
    return _url_problem(given.get("url", "")) or _number_problem(given)


def _url_problem(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good or parts.query or parts.fragment or re.search(r"\s", url):
        return "url must look like https://host/v1."
    return "url must not contain a user name or password." if "@" in parts.netloc else ""


def _number_problem(given: dict[str, Any]) -> str:
    if not 1 <= given.get("connections", 1) <= 256:
        return "connections must be between 1 and 256."
    if not 1 <= given.get("timeout", 1) <= 3600:
        return "timeout must be between 1 and 3600 seconds."
    prices = (given.get("prompt_price", 0), given.get("completion_price", 0))
    return (
        ""
        if all(0 <= price < 1e6 for price in prices)
        else "prices must be from 0 to below 1,000,000."
    )


def bucket(name: str, endpoint: str) -> dict[str, Any]:
    """Return the storage of a bucket: private, and an object of a name replaces the one before.

    Requests wait for it, so a bucket that has fallen silent is an error within seconds.
    """
    from botocore.config import Config

    options: dict[str, Any] = {
        "bucket_name": name,
        "default_acl": None,
        "file_overwrite": True,
        "gzip": False,
        "client_config": Config(
            connect_timeout=BUCKET_SECONDS,
            read_timeout=BUCKET_SECONDS,
            retries={"total_max_attempts": 2, "mode": "standard"},
        ),
    }
    if endpoint:
        options["endpoint_url"] = site_url(endpoint)
    return {"BACKEND": "storages.backends.s3.S3Storage", "OPTIONS": options}


def site_url(value: str) -> str:
    """Return the address of this site without a final slash; refuse anything else."""
    if not value.startswith(("http://", "https://")) or "?" in value or "#" in value:
        raise ImproperlyConfigured(
            f"SITE_URL must look like https://mt.example.org, not {value!r}."
        )
    return value.rstrip("/")


def secret_key(var_dir: Path, *, debug: bool) -> str:
    """Return SECRET_KEY, or the key in a file of `var_dir` for a single machine.

    The file is only used with the default SQLite database. Servers that share a database must
    share the key, so SECRET_KEY is required there.
    """
    if key := os.environ.get("SECRET_KEY"):
        return key
    if os.environ.get("DATABASE_URL") and not debug:
        raise ImproperlyConfigured("SECRET_KEY must be set if DATABASE_URL is set.")
    path = var_dir / "secret_key"
    try:
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(get_random_secret_key())
    except FileExistsError:
        pass
    return path.read_text().strip()


def secret_file(name: str, path: str) -> str:
    """Return the secret in a file, or "" without a path; refuses one that cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8").strip() if path else ""
    except (OSError, UnicodeDecodeError):
        raise ImproperlyConfigured(f"{name}: the file {path} cannot be read.") from None


def read_files(**paths: str | None) -> None:
    """Set variables to the secrets in files; refuses a variable that has another value already."""
    for name, path in paths.items():
        value = secret_file(f"{name}_FILE", path or "")
        if value and os.environ.get(name, value) != value:
            raise ImproperlyConfigured(f"{name} and {name}_FILE differ. Remove one of them.")
        if value:
            os.environ[name] = value


def oidc_issuer(value: str) -> str:
    """Return the address of an OpenID provider as it was given; plain HTTP only on this machine."""
    try:
        parts = urlsplit(value)
    except ValueError:
        parts = urlsplit("")
    is_near = parts.hostname in ("localhost", "127.0.0.1", "::1")
    is_good = parts.scheme == "https" or (parts.scheme == "http" and is_near)
    if value and not (is_good and parts.hostname and not parts.query and not parts.fragment):
        raise ImproperlyConfigured(
            f"OIDC_ISSUER must look like https://login.example.org, not {value!r}."
        )
    return value


def role_names(name: str, text: str) -> dict[str, str]:
    """Read a JSON object of groups and their roles; refuses anything else."""
    roles = ("annotator", "researcher", "campaign admin", "admin")
    try:
        given = json.loads(text)
    except ValueError:
        given = None
    if not isinstance(given, dict):
        raise ImproperlyConfigured(f'{name} must be an object such as {{"mt-team": "researcher"}}.')
    for group, role in given.items():
        if role not in roles:
            raise ImproperlyConfigured(
                f"{name}, group {group}: the role must be {' or '.join(roles)}, not {role!r}."
            )
    return given
