"""System checks for `manage.py check --deploy`, and for `manage.py migrate` on a new database."""

import secrets
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, Tags, Warning, register
from django.db import DEFAULT_DB_ALIAS, DatabaseError, connections

from annotation.models import SiteMark
from config import health
from core import shared_files
from core.commands import is_migrated

MARK = "site.mark"

# As in Django's security.W009: keys of get_random_secret_key have 50 characters.
KEY_LENGTH, KEY_CHARACTERS = 50, 8


@register(Tags.security, deploy=True)
def is_ready_to_deploy(app_configs: Sequence[Any] | None, **options: Any) -> list[CheckMessage]:
    """Return errors for a guessable key, debug mode, and plain HTTP."""
    return [*_key_errors(), *_transport_errors()]


def is_guessable(key: str) -> bool:
    """Return True if a key is short, has few characters, repeats a part, or is Django's example."""
    is_repeated = key in (key + key)[1:-1]
    is_example = key.startswith("django-insecure-")
    is_plain = len(key) < KEY_LENGTH or len(set(key)) < KEY_CHARACTERS
    return is_plain or is_repeated or is_example


def _key_errors() -> Iterator[CheckMessage]:
    if is_guessable(settings.SECRET_KEY):
        yield Error(
            f"SECRET_KEY has fewer than {KEY_LENGTH} characters, or repeats a few.",
            hint="It signs sessions and links. Set it to 50 random characters.",
            id="touchstone.E001",
        )
    if settings.DEBUG:
        yield Error(
            "DEBUG is on, so error pages show settings and code to visitors.",
            hint="Unset DEBUG.",
            id="touchstone.E004",
        )


def _transport_errors() -> Iterator[CheckMessage]:
    if not settings.HTTPS:
        yield Error(
            "HTTPS is off: cookies and links are not encrypted, and plain HTTP is not redirected.",
            hint="Set HTTPS=yes behind a proxy that terminates TLS.",
            id="touchstone.E002",
        )
        return
    if settings.SECURE_HSTS_SECONDS <= 0:
        yield Error(
            "HSTS_SECONDS is 0, so browsers may return over plain HTTP.",
            hint="Set HSTS_SECONDS=3600, and 31536000 once HTTPS has worked for a while.",
            id="touchstone.E003",
        )
    if not settings.TRUSTED_PROXIES:
        yield Warning(
            "TRUSTED_PROXIES is empty: all visitors appear to have the address of the proxy, so "
            "one visitor who guesses passwords delays all others.",
            hint="Set it to the addresses of the proxy that terminates TLS.",
            id="touchstone.W001",
        )


@register(Tags.security, deploy=True)
def has_servers(app_configs: Sequence[Any] | None, **options: Any) -> list[CheckMessage]:
    """Return warnings for settings of a single machine behind HTTPS, and for unset mail."""
    return [*_server_warnings()] if settings.HTTPS else []


def _server_warnings() -> Iterator[CheckMessage]:
    if settings.DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
        yield Warning(
            "The database is SQLite: one process writes at a time, and other hosts cannot use it.",
            hint="Set DATABASE_URL to a PostgreSQL database.",
            id="touchstone.W002",
        )
    if settings.CELERY_BROKER_URL.startswith("filesystem:"):
        yield Warning(
            "The broker is a folder of this machine, so workers on other hosts get no jobs.",
            hint="Set CELERY_BROKER_URL to Redis or RabbitMQ.",
            id="touchstone.W003",
        )
    if urlsplit(settings.SITE_URL).hostname in ("localhost", "127.0.0.1", "::1"):
        yield Warning(
            f"SITE_URL is {settings.SITE_URL}: links in e-mails lead to the reader's own machine.",
            hint="Set it to the address that people open, such as https://mt.example.org.",
            id="touchstone.W004",
        )
    if not settings.MAILS_LINKS:
        yield Warning(
            "EMAIL_URL names no mail server, so invitations and notices are not mailed.",
            hint="Set it, such as smtp+tls://user:password@mail.example.org:587.",
            id="touchstone.W005",
        )


@register(Tags.security, deploy=True)
def is_complete(app_configs: Sequence[Any] | None, **options: Any) -> list[CheckMessage]:
    """Return what a site lacks to work: database, tables, broker, folders, workers."""
    try:
        return [
            *_table_errors(),
            *_service_errors(),
            *_worker_warnings(),
            *other_folder_errors(),
        ]
    except DatabaseError as error:
        return [
            Error(
                f"The database does not answer: {str(error).strip()}",
                hint="Start it, and compare DATABASE_URL with its address, user and password.",
                id="touchstone.E007",
            )
        ]


def _table_errors() -> Iterator[CheckMessage]:
    if not is_migrated():
        yield Error(
            "The database lacks tables or columns of this version.",
            hint="Run `touchstone migrate`.",
            id="touchstone.E008",
        )


def _service_errors() -> Iterator[CheckMessage]:
    for check, sentence, hint in (
        (
            health.broker,
            "The broker does not answer",
            "Start it, and compare CELERY_BROKER_URL with its address and password.",
        ),
        (
            health.storage,
            "The site cannot write its files",
            "TOUCHSTONE_VAR and TOUCHSTONE_MEDIA must belong to the user of the services.",
        ),
    ):
        try:
            check()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
            yield Error(f"{sentence}: {reason}", hint=hint, id="touchstone.E009")


def other_folder_errors() -> list[CheckMessage]:
    """Return an error if this host's TOUCHSTONE_VAR is not the folder of the other web hosts.

    `mark_folder` has marked that one. One machine, or a bucket, has nothing to compare.
    """
    row, path = _stored_mark(), Path(settings.VAR_DIR) / MARK
    if row is None or (path.exists() and path.read_text().strip() == row.mark):
        return []
    return [
        Error(
            f"{settings.VAR_DIR} is not the folder that this site's web hosts share: uploads made "
            "on one host would be missing on another.",
            hint="Mount the shared folder there, or set FILES_S3_BUCKET. If these are the site's "
            f"files, moved or restored, write {row.mark} into {path}.",
            id="touchstone.E010",
        )
    ]


def mark_folder(*, is_restored: bool = False) -> None:
    """Mark the folder of the first web host that starts, or that to which files were restored."""
    if _is_alone() or (is_restored and _stored_mark() is None):
        return
    row, is_new = SiteMark.objects.get_or_create(pk=1, defaults={"mark": secrets.token_hex(16)})
    if is_new or is_restored:
        (Path(settings.VAR_DIR) / MARK).write_text(f"{row.mark}\n", encoding="utf-8")


def _stored_mark() -> SiteMark | None:
    """Return the mark, unless there is none or nothing to compare."""
    table = SiteMark._meta.db_table
    if _is_alone() or table not in connections[DEFAULT_DB_ALIAS].introspection.table_names():
        return None
    return SiteMark.objects.first()


def _is_alone() -> bool:
    is_sqlite = settings.DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3"
    return is_sqlite or shared_files.is_shared()


def _worker_warnings() -> Iterator[CheckMessage]:
    """Neural metrics and judges are a choice of the site."""
    if not connections[DEFAULT_DB_ALIAS].introspection.table_names():
        return
    optional = {"gpu"} | (set() if settings.JUDGE_ENDPOINTS else {"judges"})
    served = health.served_queues()
    if missing := [name for name in settings.WORK_QUEUES if name not in served | optional]:
        yield Warning(
            f"No worker takes the jobs of {', '.join(missing)}.",
            hint="Start touchstone-worker, or `touchstone worker` on any host of the site.",
            id="touchstone.W006",
        )


@register(Tags.database)
def can_hold_tables(
    app_configs: Sequence[Any] | None, databases: Sequence[str] | None = None, **options: Any
) -> list[CheckMessage]:
    """Return errors for a new SQLite file that was not chosen, and for a wrong encoding."""
    return [error for alias in databases or () for error in _database_errors(alias)]


def _database_errors(alias: str) -> Iterator[CheckMessage]:
    connection = connections[alias]
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SHOW server_encoding")
            (encoding,) = cursor.fetchone()
        if encoding != "UTF8":
            yield Error(
                f"The encoding of the database is {encoding}, which counts bytes instead of "
                "characters.",
                hint="Create a UTF8 database: createdb --encoding=UTF8 --template=template0.",
                id="touchstone.E005",
            )
    elif not settings.IS_DATABASE_CHOSEN and not connection.introspection.table_names():
        yield Error(
            "Neither DATABASE_URL nor TOUCHSTONE_VAR is set, so tables would be created in a new "
            f"SQLite file, {connection.settings_dict['NAME']}.",
            hint="On a server, `touchstone migrate` has the settings of the site "
            "(docs/deployment.md). To use SQLite here, set TOUCHSTONE_VAR=var.",
            id="touchstone.E006",
        )
