"""Errors of `manage.py check --deploy`, and of `manage.py migrate` before it makes tables."""

from collections.abc import Iterator, Sequence
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import connections

# As Django warns (security.W009): what get_random_secret_key makes has 50.
KEY_LENGTH, KEY_CHARACTERS = 50, 8


@register(Tags.security, deploy=True)
def is_ready_to_deploy(app_configs: Sequence[Any] | None, **options: Any) -> list[CheckMessage]:
    """Return an error for a guessable key, and for answers or cookies over plain HTTP."""
    return [*_of_the_key(), *_of_the_way()]


def is_guessable(key: str) -> bool:
    """Whether a key is short, uses few characters, repeats a part, or is an example of Django's."""
    is_repeated = key in (key + key)[1:-1]
    is_example = key.startswith("django-insecure-")
    is_plain = len(key) < KEY_LENGTH or len(set(key)) < KEY_CHARACTERS
    return is_plain or is_repeated or is_example


def _of_the_key() -> Iterator[CheckMessage]:
    if is_guessable(settings.SECRET_KEY):
        yield Error(
            f"SECRET_KEY is shorter than {KEY_LENGTH} characters, or repeats a few.",
            hint="It signs sessions and links: set 50 random characters.",
            id="touchstone.E001",
        )
    if settings.DEBUG:
        yield Error(
            "DEBUG is on: whoever meets an error reads settings and code.",
            hint="Unset DEBUG.",
            id="touchstone.E004",
        )


def _of_the_way() -> Iterator[CheckMessage]:
    if not settings.HTTPS:
        yield Error(
            "HTTPS is off: cookies and links travel readable, and nothing redirects to TLS.",
            hint="Set HTTPS=yes behind a proxy that terminates TLS.",
            id="touchstone.E002",
        )
        return
    if settings.SECURE_HSTS_SECONDS <= 0:
        yield Error(
            "HSTS_SECONDS is 0: a browser may come back over plain HTTP.",
            hint="Set HSTS_SECONDS=3600, and 31536000 once HTTPS has worked for a while.",
            id="touchstone.E003",
        )
    if not settings.TRUSTED_PROXIES:
        yield Warning(
            "TRUSTED_PROXIES is empty: all visitors seem to come from the proxy's address, and "
            "delays for guessing cannot tell them apart.",
            hint="Set it to the addresses of the proxy that terminates TLS.",
            id="touchstone.W001",
        )


@register(Tags.database)
def can_hold_tables(
    app_configs: Sequence[Any] | None, databases: Sequence[str] | None = None, **options: Any
) -> list[CheckMessage]:
    """Return an error for a new SQLite file that nobody chose, and for a wrong encoding."""
    return [error for alias in databases or () for error in _of_the_database(alias)]


def _of_the_database(alias: str) -> Iterator[CheckMessage]:
    connection = connections[alias]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_encoding")
            (encoding,) = cursor.fetchone()
        if encoding != "UTF8":
            yield Error(
                f"The encoding of the database is {encoding}: it counts bytes, not letters.",
                hint="createdb --encoding=UTF8 --template=template0 makes a database with UTF8.",
                id="touchstone.E005",
            )
    elif not settings.IS_DATABASE_CHOSEN and not connection.introspection.table_names():
        yield Error(
            "Neither DATABASE_URL nor TOUCHSTONE_VAR is set, so the tables would go into a new "
            f"SQLite file, {connection.settings_dict['NAME']}.",
            hint="On a server, `touchstone migrate` has the settings of the site "
            "(docs/deployment.md). To use SQLite here, set TOUCHSTONE_VAR=var.",
            id="touchstone.E006",
        )
