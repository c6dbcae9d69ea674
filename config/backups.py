"""Save a site in one file, and restore it into an empty one.

The file is a compressed tar archive. `manifest.json` comes first; `secret_key` signs sessions, open
pages and completion codes; then the database as its own tools copy it at one moment, and the files
that the database refers to. Those are copied afterwards, so that each file of a row is there.
"""

import json
import os
import shutil
import sqlite3
import subprocess
import tarfile
import tempfile
from collections.abc import Container, Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient

from config.checks import mark_folder
from core import shared_files
from metaeval.messages import MessageError, message
from metaeval.reasons import reason_of

FORMAT = 1
MANIFEST, KEY, DATABASE = "manifest.json", "secret_key", "database"
# Folders whose files are in the bucket, where a site has one.
SHARED = ("media", "uploads", shared_files.TRAINED)
# Recordings and checkpoints do not become smaller with more time. Links are stored as files.
_OPTIONS: Any = {"compresslevel": 1, "dereference": True}


class BackupError(MessageError):
    """A backup that cannot be made or restored; the message says what to do."""


def folders() -> dict[str, Path]:
    """Return the folders of a site's files, by their names in a backup."""
    return {
        "media": Path(settings.MEDIA_ROOT),
        "trained": Path(settings.TRAINED_DIR),
        "uploads": Path(settings.VAR_DIR) / "uploads",
    }


def save(path: Path) -> None:
    """Write a backup that only its owner can read, while people work.

    The file appears under its name when it is complete. Raises BackupError.
    """
    if path.exists():
        raise BackupError(
            message("backup.exists", "{path} exists already. Choose another name.", path=str(path))
        )
    part = path.with_name(f"{path.name}.part")
    part.unlink(missing_ok=True)
    made = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with (
            os.fdopen(made, "wb") as file,
            tempfile.TemporaryDirectory(dir=path.absolute().parent) as scratch,
            tarfile.open(fileobj=file, mode="w:gz", **_OPTIONS) as archive,
        ):
            _add(archive, MANIFEST, json.dumps(_manifest(), indent=1))
            _add(archive, KEY, settings.SECRET_KEY)
            copy = Path(scratch) / DATABASE
            _copy_database(copy)
            archive.add(copy, DATABASE)
            copy.unlink()
            # This host may have an older state of a training.
            stored = {_top(key) for key, _ in shared_files.listing(shared_files.TRAINED)}
            for name, folder in folders().items():
                _add_folder(archive, folder, name, stored)
            _add_shared(archive, Path(scratch))
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def restore(path: Path) -> dict[str, Any]:
    """Restore a backup into an empty database and empty folders; return its manifest.

    Raises BackupError, before anything is changed, if the site is not empty or cannot be that of
    the backup.
    """
    with _opened(path) as archive:
        manifest = _read_manifest(archive)
        _require_suitable(manifest)
        _require_empty()
        _restore_key(_text(archive, KEY))
        targets = folders()
        for member in archive:
            top, _, rest = member.name.partition("/")
            if top == DATABASE:
                _restore_database(archive, member)
            elif top in targets and rest:
                path = targets[top] / rest
                _restore_file(archive, member, path, targets[top])
                if top in SHARED and member.isreg():
                    shared_files.publish(path, member.name)
    mark_folder(is_restored=True)
    return manifest


def _manifest() -> dict[str, Any]:
    return {
        "format": FORMAT,
        "version": settings.VERSION,
        "database": connection.vendor,
        "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _add(archive: tarfile.TarFile, name: str, text: str) -> None:
    member = tarfile.TarInfo(name)
    data = text.encode()
    member.size, member.mode, member.mtime = len(data), 0o600, int(datetime.now(UTC).timestamp())
    archive.addfile(member, BytesIO(data))


def _add_folder(
    archive: tarfile.TarFile, folder: Path, name: str, without: Container[str] = ()
) -> None:
    """Add a folder; files that are removed meanwhile, or below `without`, are skipped."""
    for path in sorted(folder.rglob("*")) if folder.is_dir() else ():
        key = f"{name}/{path.relative_to(folder)}"
        if _top(key) in without:
            continue
        try:
            member = archive.gettarinfo(path, key)
            content = path.open("rb") if member.isreg() else None
        except FileNotFoundError:
            continue
        with closing(content or BytesIO()) as file:
            archive.addfile(member, file if content else None)


def _top(key: str) -> str:
    """Return a key up to the folder of a training."""
    return "/".join(key.split("/")[:2])


def _add_shared(archive: tarfile.TarFile, scratch: Path) -> None:
    """Add what the bucket has and was not added; what is deleted meanwhile is skipped."""
    places = folders()
    for name in SHARED:
        for key, _at in shared_files.listing(name):
            path = places[name] / key.removeprefix(f"{name}/")
            if name != shared_files.TRAINED and path.exists():
                continue
            copy = scratch / "object"
            try:
                shared_files.fetch(copy, key)
            except FileNotFoundError:
                continue
            archive.add(copy, key)
            copy.unlink()


def _copy_database(target: Path) -> None:
    """Copy the database as it is at one moment; nobody who writes to it has to wait."""
    target.touch(mode=0o600)
    if connection.vendor == "sqlite":
        connection.ensure_connection()
        with closing(sqlite3.connect(target)) as copy:
            connection.connection.backup(copy)
        return
    _run_tool("pg_dump", "--format=custom", "--no-owner", f"--file={target}")


def _run_tool(program: str, *options: str) -> None:
    """Run a program of PostgreSQL on the site's database."""
    command, variables = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    if not shutil.which(program):
        raise BackupError(
            message(
                "backup.no-program",
                "{program} is not installed. Install PostgreSQL's client of the server's version "
                "(Debian: postgresql-client).",
                program=program,
            )
        )
    done = subprocess.run(  # noqa: S603
        [program, *command[1:-1], f"--dbname={command[-1]}", *options],
        env=os.environ | (variables or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise BackupError(
            message(
                "backup.program-failed",
                "{program} ended with an error: {error}",
                program=program,
                error=done.stderr.strip(),
            )
        )


@contextmanager
def _opened(path: Path) -> Iterator[tarfile.TarFile]:
    try:
        with tarfile.open(path, "r:gz") as archive:
            yield archive
    except FileNotFoundError:
        raise BackupError(
            message("backup.no-file", "The file {path} does not exist.", path=str(path))
        ) from None
    except (tarfile.TarError, EOFError, OSError) as error:
        raise BackupError(
            message(
                "backup.not-restored",
                "{path} cannot be restored: {error}",
                path=str(path),
                error=reason_of(error),
            )
        ) from error


def _text(archive: tarfile.TarFile, name: str) -> str:
    try:
        file = archive.extractfile(name)
    except KeyError:
        file = None
    if file is None:
        raise BackupError(
            message(
                "backup.not-one",
                "{path} is not a backup of Touchstone: it has no {name}.",
                path=str(archive.name),
                name=name,
            )
        )
    return file.read().decode()


def _read_manifest(archive: tarfile.TarFile) -> dict[str, Any]:
    try:
        manifest: dict[str, Any] = json.loads(_text(archive, MANIFEST))
        _numbers(manifest["version"])
        known = int(manifest["format"]), str(manifest["database"])
    except (KeyError, TypeError, ValueError):
        raise BackupError(
            message(
                "backup.damaged",
                "{path} has a damaged {name}.",
                path=str(archive.name),
                name=MANIFEST,
            )
        ) from None
    if known[0] > FORMAT:
        raise BackupError(
            message(
                "backup.newer",
                "The backup was made by a newer version. Install that version first.",
            )
        )
    return manifest


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def _require_suitable(manifest: dict[str, Any]) -> None:
    if _numbers(manifest["version"]) > _numbers(settings.VERSION):
        raise BackupError(
            message(
                "backup.newer-than-this",
                "The backup was made by version {version}; this is {here}. Install that version "
                "or a newer one first.",
                version=manifest["version"],
                here=settings.VERSION,
            )
        )
    if manifest["database"] != connection.vendor:
        raise BackupError(
            message(
                "backup.other-database",
                "The backup has a {database} database, but DATABASE_URL names one of {here}. "
                "Restore it into a {database} database.",
                database=manifest["database"],
                here=connection.vendor,
            )
        )


def _require_empty() -> None:
    if connection.introspection.table_names():
        raise BackupError(
            message(
                "backup.has-tables",
                "The database has tables already. A backup is restored into an empty database "
                "only: create a new one, and do not run migrate before.",
            )
        )
    for folder in folders().values():
        if folder.is_dir() and any(folder.iterdir()):
            raise BackupError(
                message(
                    "backup.has-files",
                    "The folder {folder} is not empty. Move its files away first.",
                    folder=str(folder),
                )
            )
    if any(key for name in SHARED for key, _at in shared_files.listing(name)):
        raise BackupError(
            message("backup.bucket", "The bucket is not empty. Name another, empty one.")
        )


def _restore_key(key: str) -> None:
    """Store the key where settings do not hold one; refuse another one in the settings."""
    if key == settings.SECRET_KEY:
        return
    if os.environ.get("SECRET_KEY"):
        raise BackupError(
            message(
                "backup.other-key",
                "SECRET_KEY differs from the backup’s. With another key, everybody is signed out, "
                "open pages cannot send their answers, and completion codes change. Set it to the "
                "text of `{command}` and restore again.",
                command=f"tar -xzOf FILE {KEY}",
            )
        )
    path = Path(settings.VAR_DIR) / "secret_key"
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(key)


def _restore_database(archive: tarfile.TarFile, member: tarfile.TarInfo) -> None:
    content = archive.extractfile(member)
    with content or BytesIO() as source, tempfile.NamedTemporaryFile(dir=settings.VAR_DIR) as copy:
        shutil.copyfileobj(source, copy)
        copy.flush()
        if connection.vendor == "sqlite":
            connection.ensure_connection()
            with closing(sqlite3.connect(copy.name)) as database:
                database.backup(connection.connection)
        else:
            options = ("--no-owner", "--single-transaction", "--exit-on-error")
            _run_tool("pg_restore", *options, copy.name)


def _restore_file(
    archive: tarfile.TarFile, member: tarfile.TarInfo, path: Path, folder: Path
) -> None:
    """Write a file or make a folder; nothing is written outside `folder`."""
    if not path.resolve().is_relative_to(folder.resolve()):
        raise BackupError(
            message(
                "backup.outside",
                "{path} names a file outside the site: {name}.",
                path=str(archive.name),
                name=member.name,
            )
        )
    if member.isdir():
        path.mkdir(parents=True, exist_ok=True)
    elif content := archive.extractfile(member) if member.isreg() else None:
        path.parent.mkdir(parents=True, exist_ok=True)
        with content, path.open("wb") as file:
            shutil.copyfileobj(content, file)
