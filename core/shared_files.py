"""Files that every web host and worker of a site needs, in a bucket where one is configured.

Code works with files in the site's folders. With `FILES_S3_BUCKET` these folders hold copies, and
the bucket is the truth: `publish` stores a copy there, `fetch` brings one that this host lacks.
Without a bucket, all of this does nothing: the folders are the truth, and hosts share them.
"""

import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import storages

BLOCK = 1024 * 1024


def is_shared() -> bool:
    """Return whether the site has a bucket."""
    return bool(settings.FILES_S3_BUCKET)


def _storage() -> Any:
    return storages["files"]


def publish(path: Path, name: str) -> None:
    """Store a file in the bucket; raises OSError if the bucket does not take it."""
    if is_shared():
        with path.open("rb") as file, _as_os_errors(name):
            _storage().save(name, File(file))


def fetch(path: Path, name: str) -> None:
    """Bring a file that this host lacks; raises FileNotFoundError if the bucket lacks it, too."""
    if not is_shared() or path.exists():
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = path.with_name(f".{secrets.token_hex(16)}")
    try:
        with _as_os_errors(name), _storage().open(name) as source, part.open("xb") as sink:
            shutil.copyfileobj(source, sink, BLOCK)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def read(path: Path, name: str) -> bytes:
    """Return a file as it is now: another host may have deleted it."""
    if not is_shared():
        return path.read_bytes()
    with _as_os_errors(name), _storage().open(name) as source:
        content: bytes = source.read()
    return content


def remove(name: str) -> None:
    """Delete a file, or all files below a name that ends with a slash."""
    if not is_shared():
        return
    with _as_os_errors(name):
        if name.endswith("/"):
            _storage().bucket.objects.filter(Prefix=name).delete()
        else:
            _storage().delete(name)


def listing(folder: str) -> Iterator[tuple[str, float]]:
    """Yield the names of all files below a folder of the bucket, with times in seconds."""
    if is_shared():
        with _as_os_errors(folder):
            for each in _storage().bucket.objects.filter(Prefix=f"{folder}/"):
                yield each.key, each.last_modified.timestamp()


class _as_os_errors:  # noqa: N801  reads as a verb
    """Raise what the bucket answers as OSError, which callers know from disks."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if error is None:
            return
        from botocore.exceptions import BotoCoreError, ClientError

        if isinstance(error, BotoCoreError | ClientError):
            raise OSError(f"The bucket refused {self.name}: {type(error).__name__}") from error
