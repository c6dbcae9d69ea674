"""Files that wait for a person's confirmation or for a worker, with the values of their form.

They lie in VAR_DIR/uploads under random names, and are read again after the confirmation. The
browser gets a signed token with the name, the user and the SHA-256 of the values, valid for
`MAX_AGE`. Several web processes need no more than the shared folder or bucket.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from django.conf import settings
from django.core import signing

from annotation.uploads.files import InputFile
from annotation.uploads.problems import PlainReport, Report
from core import shared_files

PURPOSE = "annotation.uploads.waiting"
MAX_AGE = 2 * 60 * 60  # seconds
# What a worker imports is kept for longer: it may have to wait for the worker.
HELD_SECONDS = 7 * 24 * 60 * 60
VALUES = "values.json"
# Names in a bucket: of the folder, and of the mark of what a worker imports.
UPLOADS, HELD = "uploads", "held"
T = TypeVar("T")


class ExpiredError(Exception):
    """The token is not valid: altered, somebody else's, too old, or used already."""


@dataclass(frozen=True)
class Sent:
    """What a person or program sent: the door, the files by role, and the values of the form.

    Several files of a role are numbered: `log`, `log1`, `log2` … Values are plain, as JSON has
    them.
    """

    door: str
    files: Mapping[str, InputFile]
    words: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, door: str, files: Iterable[tuple[str, InputFile]], words: Mapping[str, Any]
    ) -> Sent:
        """Return files with their roles as sent."""
        seen: Counter[str] = Counter()
        named = {}
        for role, file in files:
            named[f"{role}{seen[role] or ''}"] = file
            seen[role] += 1
        return cls(door, named, words)

    @property
    def by_role(self) -> list[tuple[str, InputFile]]:
        """The files with their roles, in the order in which they were sent."""
        return [(key.rstrip("0123456789"), file) for key, file in self.files.items()]

    def several(self, wanted: str) -> list[InputFile]:
        """Return the files of a role."""
        return [file for role, file in self.by_role if role == wanted]

    def single(self, wanted: str) -> InputFile | None:
        """Return the file of a role, if one was sent."""
        return next(iter(self.several(wanted)), None)


def keep(sent: Sent, user_id: int) -> str:
    """Keep what was sent and return its token, for this user alone.

    OSError where the disk takes no more; nothing is left then.
    """
    _remove_old()
    names = {key: file.name for key, file in sent.files.items()}
    values = {"door": sent.door, "words": dict(sent.words), "files": names}
    content = json.dumps(values, ensure_ascii=True).encode()
    folder = _folder() / secrets.token_hex(16)
    folder.mkdir(mode=0o700)
    try:
        for number, file in enumerate(sent.files.values()):
            with file.open() as stream, (folder / str(number)).open("xb") as target:
                shutil.copyfileobj(stream, target, length=1024 * 1024)
            _publish(folder / str(number))
        (folder / VALUES).write_bytes(content)
        _publish(folder / VALUES)
    except OSError:
        _remove(folder)
        raise
    return token_of(
        {"name": folder.name, "sha256": hashlib.sha256(content).hexdigest()}, user_id=user_id
    )


def recall(token: str, user_id: int, *doors: str) -> Sent:
    """Read back what was sent, to one of these doors if they are given. Raises ExpiredError."""
    folder, sha256 = _open(token, user_id)
    try:
        content = shared_files.read(folder / VALUES, _key(folder / VALUES))
        if hashlib.sha256(content).hexdigest() != sha256:
            raise ExpiredError
        values = json.loads(content)
        for number in range(len(values["files"])):
            shared_files.fetch(folder / str(number), _key(folder / str(number)))
        files = {
            key: replace(InputFile.at(folder / str(number)), name=name)
            for number, (key, name) in enumerate(values["files"].items())
        }
    except FileNotFoundError as error:
        raise ExpiredError from error
    if doors and values["door"] not in doors:
        raise ExpiredError
    return Sent(values["door"], files, values["words"])


def forget(token: str, user_id: int) -> None:
    """Delete what was sent, after it was stored or given up."""
    _remove(_open(token, user_id)[0])


def hold(token: str, user_id: int) -> dict[str, str]:
    """Keep what was sent until `release`, and return where it is. Raises ExpiredError."""
    folder, sha256 = _open(token, user_id)
    until = time.time() + HELD_SECONDS
    try:
        if shared_files.is_shared():
            content = shared_files.read(folder / VALUES, _key(folder / VALUES))
            folder.mkdir(mode=0o700, exist_ok=True)
            (folder / VALUES).write_bytes(content)
            (folder / HELD).touch()
            _publish(folder / HELD)
        os.utime(folder / VALUES, (until, until))
    except FileNotFoundError as error:
        raise ExpiredError from error
    return {"name": folder.name, "sha256": sha256}


def token_of(held: Mapping[str, str], *, user_id: int) -> str:
    """Return a token for something that is held."""
    values = {name: held[name] for name in ("name", "sha256")}
    return signing.dumps({**values, "user": user_id}, salt=PURPOSE)


def name_of(token: str, user_id: int) -> str:
    """Return the name under which something is held. Raises ExpiredError."""
    return _open(token, user_id)[0].name


def add(held: Mapping[str, str], name: str, content: bytes) -> None:
    """Put a file to what is held."""
    path = _folder() / held["name"] / name
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.write_bytes(content)
    _publish(path)


def added(held: Mapping[str, str], name: str) -> bytes:
    """Return a file that `add` put there; raises FileNotFoundError."""
    path = _folder() / held["name"] / name
    return shared_files.read(path, _key(path))


def release(held: Mapping[str, str]) -> None:
    """Delete something that is held."""
    if held:
        _remove(_folder() / held["name"])


def plain(value: object) -> Any:
    """Return a value of plain types and dataclasses as plain types alone."""
    return msgspec.to_builtins(value, enc_hook=_as_plain, order="deterministic")


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


def _remove(folder: Path) -> None:
    """Delete the values first, so that nothing refers to deleted files."""
    shared_files.remove(_key(folder / VALUES))
    shared_files.remove(f"{_key(folder)}/")
    shutil.rmtree(folder, ignore_errors=True)


def _remove_old() -> None:
    """Delete what nobody confirmed in time; beside a bucket, folders hold copies alone."""
    now = time.time()
    for path in _folder().iterdir():
        try:
            values = path / VALUES
            if (values if values.exists() else path).stat().st_mtime < now - MAX_AGE:
                path.unlink() if path.is_file() else shutil.rmtree(path, ignore_errors=True)
        except FileNotFoundError:  # another process was faster
            continue
    stored = dict(shared_files.listing(UPLOADS))
    for key, at in stored.items():
        folder, _, name = key.rpartition("/")
        held_at = stored.get(f"{folder}/{HELD}")
        ends = at + MAX_AGE if held_at is None else held_at + HELD_SECONDS
        if name == VALUES and ends < now:
            _remove(_folder() / folder.rpartition("/")[2])


def _publish(path: Path) -> None:
    shared_files.publish(path, _key(path))


def _key(path: Path) -> str:
    """Return the name of a file in a bucket."""
    return f"{UPLOADS}/{path.relative_to(_folder()).as_posix()}"


def _open(token: str, user_id: int) -> tuple[Path, str]:
    try:
        values = signing.loads(token, salt=PURPOSE, max_age=MAX_AGE)
    except signing.BadSignature as error:
        raise ExpiredError from error
    if values["user"] != user_id:
        raise ExpiredError
    return _folder() / values["name"], values["sha256"]


def _folder() -> Path:
    folder: Path = settings.VAR_DIR / "uploads"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
