"""Files that every web host and worker of a site needs, in a bucket where one is configured.

Code works with files in the site's folders. With `FILES_S3_BUCKET` these folders hold copies, and
the bucket is the truth: `publish` stores a copy there, `fetch` brings one that this host lacks.
Without a bucket, all of this does nothing: the folders are the truth, and hosts share them.

What a training saves has the same path on every host, below `TRAINED_DIR`. `SharedFolder` keeps the
folder of a training in the bucket while it works, `fetch_trained` brings a part of one.
"""

import logging
import os
import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import storages

logger = logging.getLogger(__name__)
BLOCK = 1024 * 1024
TRAINED = "trained"


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


def trained_name(path: Path) -> str:
    """Return the name in the bucket of a path below TRAINED_DIR."""
    return f"{TRAINED}/{path.relative_to(settings.TRAINED_DIR).as_posix()}"


def fetch_trained(path: Path) -> None:
    """Bring a checkpoint that a training on another host saved: a folder, or a file in one.

    Does nothing if the path is on this host, or not below TRAINED_DIR. What the bucket does not
    give remains absent, which is for the caller to notice.
    """
    if not is_shared() or not path.is_relative_to(settings.TRAINED_DIR) or path.exists():
        return
    try:
        folder = path
        keys = [key for key, _ in listing(trained_name(folder))]
        if not keys:
            folder = path.parent
            name = trained_name(path)
            keys = [key for key, _ in listing(name.rpartition("/")[0])]
            if name not in keys:
                return
        folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = folder.with_name(f".{secrets.token_hex(16)}")
        try:
            _fetch_all(keys, trained_name(folder), part)
            part.rename(folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError:
        # Another process may have brought it meanwhile.
        if not path.exists():
            logger.warning("%s could not be fetched", path, exc_info=True)


def _fetch_all(keys: list[str], name: str, folder: Path) -> None:
    for key in keys:
        fetch(folder / key.removeprefix(f"{name}/"), key)


class SharedFolder:
    """Keep the folder of a training as it is in the bucket, and the bucket as the folder is.

    Files named in `private` stay on this host. `give` is called between two steps of a training,
    when no file is being written.
    """

    def __init__(self, folder: Path, private: tuple[str, ...]) -> None:
        self._folder, self._private = folder, private
        self._given: dict[str, tuple[int, int]] = {}

    def take(self) -> None:
        """Make the folder what another host saved last; without that, it remains as it is."""
        name = trained_name(self._folder)
        keys = [key for key, _ in listing(name)]
        if not keys:
            return
        part = self._folder.with_name(f".{secrets.token_hex(16)}")
        try:
            _fetch_all(keys, name, part)
            for path in self._folder.iterdir():
                if path.is_dir():
                    shutil.rmtree(path)
                elif path.name not in self._private:
                    path.unlink()
            for path in part.iterdir():
                path.rename(self._folder / path.name)
        finally:
            shutil.rmtree(part, ignore_errors=True)
        self._given = self._files()

    def give(self, may_go_on: Callable[[], bool]) -> None:
        """Store what changed, the oldest first: what points to a checkpoint is written after it.

        `may_go_on` is asked before each file, as another host may have the training by now. Raises
        OSError if the bucket refuses; the next call goes on.
        """
        if not is_shared():
            return
        files = self._files()
        for name, state in sorted(files.items(), key=lambda item: item[1]):
            if self._given.get(name) != state:
                if not may_go_on():
                    return
                path = self._folder / name
                publish(path, trained_name(path))
                self._given[name] = state
        for name in self._given.keys() - files.keys():
            if not may_go_on():
                return
            remove(trained_name(self._folder / name))
            del self._given[name]

    def _files(self) -> dict[str, tuple[int, int]]:
        """Return times and sizes by name."""
        found = {}
        for path in self._folder.rglob("*"):
            if path.is_file() and path.name not in self._private:
                about = path.stat()
                name = path.relative_to(self._folder).as_posix()
                found[name] = (about.st_mtime_ns, about.st_size)
        return found


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
