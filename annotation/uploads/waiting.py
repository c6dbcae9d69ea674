"""What waits for a person's confirmation: JSON files in VAR_DIR/uploads, with attachments beside.

Names are random; the browser gets a signed token with the name, the user and the SHA-256 of the
file, valid for `MAX_AGE`. Several web processes need no more than the shared folder.
"""

import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import msgspec
from django.conf import settings
from django.core import signing

from annotation.uploads.files import InputFile
from annotation.uploads.problems import PlainReport, Report

MAX_AGE = 2 * 60 * 60  # seconds
# What a worker imports is kept for longer: it may have to wait for the worker.
HELD_SECONDS = 7 * 24 * 60 * 60
T = TypeVar("T")


class ExpiredError(Exception):
    """The token is not valid: altered, somebody else's, too old, or used already."""


def keep(
    values: Mapping[str, Any],
    *,
    user_id: int,
    purpose: str,
    attached: Mapping[str, BinaryIO] | None = None,
) -> str:
    """Write values and return their token, for this user and this purpose alone.

    `attached` is what would be too large among the values, by names of letters and digits.
    OSError where the disk takes no more; nothing of them is left then.
    """
    _remove_old()
    content = json.dumps(values, ensure_ascii=True).encode()
    name = secrets.token_hex(16)
    path = _folder() / f"{name}.json"
    path.touch(mode=0o600)
    try:
        _attach(path.with_suffix(""), attached or {})
        path.write_bytes(content)
    except OSError:
        _remove(path)
        raise
    token = {"name": name, "user": user_id, "sha256": hashlib.sha256(content).hexdigest()}
    return signing.dumps(token, salt=purpose)


def recall(token: str, *, user_id: int, purpose: str) -> dict[str, Any]:
    """Read values back. Raises ExpiredError."""
    path, sha256 = _open(token, user_id, purpose)
    try:
        content = path.read_bytes()
    except FileNotFoundError as error:
        raise ExpiredError from error
    if hashlib.sha256(content).hexdigest() != sha256:
        raise ExpiredError
    values: dict[str, Any] = json.loads(content)
    return values


def keep_files(
    values: Mapping[str, Any],
    files: Mapping[str, InputFile],
    *,
    user_id: int,
    purpose: str,
    attached: Mapping[str, BinaryIO] | None = None,
) -> str:
    """Keep values with files, which are attached under their names here."""
    names = {name: file.name for name, file in files.items()}
    with ExitStack() as stack:
        streams = {name: stack.enter_context(file.open()) for name, file in files.items()}
        return keep(
            {**values, "files": names},
            user_id=user_id,
            purpose=purpose,
            attached={**streams, **(attached or {})},
        )


def recall_files(
    token: str, *, user_id: int, purpose: str
) -> tuple[dict[str, Any], dict[str, InputFile]]:
    """Read values and files back. Raises ExpiredError."""
    values = recall(token, user_id=user_id, purpose=purpose)
    paths = {
        name: attachment(token, name, user_id=user_id, purpose=purpose) for name in values["files"]
    }
    return values, {
        name: replace(InputFile.at(path), name=values["files"][name])
        for name, path in paths.items()
    }


def plain(value: object) -> Any:
    """Return a value of plain types and dataclasses as plain types alone."""
    return msgspec.to_builtins(value, enc_hook=_as_plain)


def encoded(value: object) -> bytes:
    """Return a value of plain types and dataclasses as JSON."""
    # Names of files may have lone surrogates, which only escapes can carry.
    return json.dumps(plain(value), ensure_ascii=True).encode()


def decoded(content: bytes, shape: type[T]) -> T:
    """Return the value of this type that `encoded` wrote.

    Raises ExpiredError for anything else, which may be of an earlier version.
    """
    try:
        return msgspec.convert(json.loads(content), shape, dec_hook=_of_type)
    except (msgspec.ValidationError, ValueError, RecursionError) as error:
        raise ExpiredError from error


def _as_plain(value: object) -> object:
    if isinstance(value, Report):
        return value.plain
    if isinstance(value, Enum):
        return value.value
    raise NotImplementedError(f"{type(value).__name__} is not a type of what waits")


def _of_type(shape: type, value: object) -> Any:
    return Report.of(msgspec.convert(value, PlainReport)) if shape is Report else shape(value)


def attachment(token: str, name: str, *, user_id: int, purpose: str) -> Path:
    """Return where something attached lies. Raises ExpiredError."""
    path = _open(token, user_id, purpose)[0].with_suffix("") / name
    if not path.is_file():
        raise ExpiredError
    return path


def forget(token: str, *, user_id: int, purpose: str) -> None:
    """Delete what was kept, after it was stored or given up."""
    _remove(_open(token, user_id, purpose)[0])


def hold(token: str, *, user_id: int, purpose: str) -> dict[str, str]:
    """Keep something until `release`, and return where it is. Raises ExpiredError."""
    path, sha256 = _open(token, user_id, purpose)
    until = time.time() + HELD_SECONDS
    try:
        os.utime(path, (until, until))
    except FileNotFoundError as error:
        raise ExpiredError from error
    return {"name": path.stem, "sha256": sha256}


def token_of(held: Mapping[str, str], *, user_id: int, purpose: str) -> str:
    """Return a token for something that is held."""
    return signing.dumps({**held, "user": user_id}, salt=purpose)


def name_of(token: str, *, user_id: int, purpose: str) -> str:
    """Return the name under which something is held. Raises ExpiredError."""
    return _open(token, user_id, purpose)[0].stem


def folder_of(held: Mapping[str, str]) -> Path:
    """Return the folder with the attachments of something that is held."""
    return _folder() / held["name"]


def release(held: Mapping[str, str]) -> None:
    """Delete something that is held."""
    if held:
        _remove(folder_of(held).with_suffix(".json"))


def _attach(folder: Path, attached: Mapping[str, BinaryIO]) -> None:
    folder.mkdir(mode=0o700)
    for name, stream in attached.items():
        with (folder / name).open("xb") as file:
            shutil.copyfileobj(stream, file, length=1024 * 1024)


def _remove(path: Path) -> None:
    """Delete the values first, so that nothing refers to deleted attachments."""
    path.with_suffix(".json").unlink(missing_ok=True)
    shutil.rmtree(path.with_suffix(""), ignore_errors=True)


def _remove_old() -> None:
    """Delete what nobody confirmed in time."""
    limit = time.time() - MAX_AGE
    for path in _folder().iterdir():
        try:
            if path.stat().st_mtime < limit:
                _remove(path)
        except FileNotFoundError:  # another process was faster
            continue


def _open(token: str, user_id: int, purpose: str) -> tuple[Path, str]:
    try:
        values = signing.loads(token, salt=purpose, max_age=MAX_AGE)
    except signing.BadSignature as error:
        raise ExpiredError from error
    if values["user"] != user_id:
        raise ExpiredError
    return _folder() / f"{values['name']}.json", values["sha256"]


def _folder() -> Path:
    folder: Path = settings.VAR_DIR / "uploads"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
