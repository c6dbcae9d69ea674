"""Places where the kernel itself refuses to write: a file system that is full, a limit on files.

Nothing is faked. The file system is a tmpfs of a few megabytes, mounted in a namespace of a child
process and reached through /proc: it needs no privileges, but a container may forbid it, and then
those cases are skipped by name. The limit on the size of files (RLIMIT_FSIZE) works everywhere.
"""

import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

MEGABYTE = 1_000_000
MOUNT = 'mount -t tmpfs -o size="$1" tmpfs "$2" && echo mounted && exec cat'


@dataclass(frozen=True)
class SmallDisk:
    """A folder, what takes its room away, and the code of the refusal.

    Some programs follow the links of /proc: started with `enter`, they see the folder `inside`.
    """

    folder: Path
    leave: Callable[[int], None]
    code: str
    inside: Path
    enter: tuple[str, ...] = ()


@contextmanager
def full_disk(mount_point: Path, n_bytes: int = 6 * MEGABYTE) -> Iterator[SmallDisk]:
    """A file system of `n_bytes`; `leave` fills it up to a number of free bytes."""
    if not shutil.which("unshare"):
        pytest.skip("no mounts here: there is no unshare")
    program = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", MOUNT, "sh"]
    with subprocess.Popen(
        [*program, str(n_bytes), str(mount_point)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as holder:  # fmt: skip
        assert holder.stdin
        assert holder.stdout
        assert holder.stderr
        if holder.stdout.readline() != b"mounted\n":
            pytest.skip(f"no mounts here: {holder.stderr.read().decode().strip()}")
        folder = Path(f"/proc/{holder.pid}/root{mount_point}")

        def leave(n_left: int) -> None:
            ballast = folder / "ballast"
            ballast.unlink(missing_ok=True)
            ballast.write_bytes(bytes(max(0, shutil.disk_usage(folder).free - n_left)))

        try:
            enter = ("nsenter", f"--target={holder.pid}", "--user", "--mount", "--wd=.",
                     "--preserve-credentials", "--")  # fmt: skip
            yield SmallDisk(folder, leave, "disk.full", mount_point, enter)
        finally:
            holder.stdin.close()


@contextmanager
def limited_files(folder: Path) -> Iterator[SmallDisk]:
    """A folder like any other; `leave` has the kernel refuse files of more bytes than that."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def leave(n_left: int) -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (n_left, hard))

    try:
        yield SmallDisk(folder, leave, "disk.file-too-large", folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
