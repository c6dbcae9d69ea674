"""What waits for a person's confirmation: JSON files in VAR_DIR/uploads, with attachments beside.

Names are random; the browser gets a signed token with the name, the user and the SHA-256 of the
file, valid for `MAX_AGE`. Several web processes need no more than the shared folder or bucket.
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
from core import shared_files

MAX_AGE = 2 * 60 * 60  # seconds
# What a worker imports is kept for longer: it may have to wait for the worker.
HELD_SECONDS = 7 * 24 * 60 * 60
T = TypeVar("T")
# Names in a bucket: of the folder, and of the mark of what a worker imports.
UPLOADS, HELD = "uploads", ".held"


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
        if attached:
            _attach(path.with_suffix(""), attached)
        path.write_bytes(content)
        for name_of_one in attached or ():
            _publish(path.with_suffix("") / name_of_one)
        _publish(path)
    except OSError:
        _remove(path)
        raise
    token = {"name": name, "user": user_id, "sha256": hashlib.sha256(content).hexdigest()}
    return signing.dumps(token, salt=purpose)


def recall(token: str, *, user_id: int, purpose: str) -> dict[str, Any]:
    """Read values back. Raises ExpiredError."""
    path, sha256 = _open(token, user_id, purpose)
    try:
        content = shared_files.read(path, _key(path))
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


def encoded(value: object) -> bytes:
    """Return a value of plain types and dataclasses as JSON."""
    # Names of files may have lone surrogates, which only escapes can carry.
    return json.dumps(msgspec.to_builtins(value, enc_hook=_as_plain), ensure_ascii=True).encode()


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
    try:
        shared_files.fetch(path, _key(path))
    except FileNotFoundError as error:
        raise ExpiredError from error
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
        if shared_files.is_shared():
            path.write_bytes(shared_files.read(path, _key(path)))
            mark = path.with_suffix(HELD)
            mark.touch()
            _publish(mark)
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


def add(held: Mapping[str, str], name: str, content: bytes) -> None:
    """Attach something to what is held."""
    path = _folder() / held["name"] / name
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_bytes(content)
    _publish(path)


def added(held: Mapping[str, str], name: str) -> bytes:
    """Return what `add` attached; raises FileNotFoundError."""
    path = _folder() / held["name"] / name
    return shared_files.read(path, _key(path))


def release(held: Mapping[str, str]) -> None:
    """Delete something that is held."""
    if held:
        _remove(_folder() / f"{held['name']}.json")


def _attach(folder: Path, attached: Mapping[str, BinaryIO]) -> None:
    folder.mkdir(mode=0o700)
    for name, stream in attached.items():
        with (folder / name).open("xb") as file:
            shutil.copyfileobj(stream, file, length=1024 * 1024)


def _remove(path: Path) -> None:
    """Delete the values first, so that nothing refers to deleted attachments."""
    for suffix in (".json", HELD):
        path.with_suffix(suffix).unlink(missing_ok=True)
        shared_files.remove(_key(path.with_suffix(suffix)))
    shutil.rmtree(path.with_suffix(""), ignore_errors=True)
    shared_files.remove(f"{_key(path.with_suffix(''))}/")


def _remove_old() -> None:
    """Delete what nobody confirmed in time."""
    limit = time.time() - MAX_AGE
    for path in _folder().iterdir():
        try:
            values = path.with_suffix(".json")
            # What is held keeps its attachments, which are as old as they are.
            if (values if values.exists() else path).stat().st_mtime < limit:
                _remove(path)
        except FileNotFoundError:  # another process was faster
            continue
    _remove_old_shared(limit)


def _remove_old_shared(limit: float) -> None:
    stored = dict(shared_files.listing(UPLOADS))
    for key, at in stored.items():
        stem = key.removesuffix(".json")
        held_at = stored.get(stem + HELD)
        ends = at + MAX_AGE if held_at is None else held_at + HELD_SECONDS
        if key.endswith(".json") and ends < limit + MAX_AGE:
            _remove(_folder() / Path(key).name)


def _publish(path: Path) -> None:
    shared_files.publish(path, _key(path))


def _key(path: Path) -> str:
    """Return the name of a file in a bucket."""
    return f"{UPLOADS}/{path.relative_to(_folder()).as_posix()}"


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
