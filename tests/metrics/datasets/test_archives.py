"""Archives are unpacked without trust: nothing outside, no links, no bombs, no pickles."""

import gzip
import io
import stat
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from annotation.uploads import InputFile
from core.messages import messages_of
from metrics.datasets.mtme import packed, unpacked
from tests.refusals import refused

SOURCE = "wmt22/sources/en-de.txt"


def zipped(files: dict[str, bytes], name: str = "set.zip") -> InputFile:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return InputFile.holding(name, buffer.getvalue())


def tarred(*members: tarfile.TarInfo, content: bytes = b"a\n", mode: str = "w:gz") -> InputFile:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode) as archive:  # type: ignore[call-overload]
        for member in members:
            if member.isreg():
                member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return InputFile.holding("set.tar.gz", buffer.getvalue())


def member(path: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.type, info.linkname = kind, target
    return info


def contents(archive: InputFile) -> dict[str, bytes]:
    with unpacked(archive) as folder:
        found = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in folder.rglob("*")
            if path.is_file()
        }
    assert not folder.exists()
    return found


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_tars_are_unpacked_whatever_packed_them(mode: str) -> None:
    archive = tarred(member(f"./{SOURCE}"), member("wmt22/README.md"), mode=mode)
    assert contents(archive) == {SOURCE: b"a\n"}


def test_other_files_are_skipped() -> None:
    files = {
        f"data/{SOURCE}": b"a\n",
        "data/wmt22/notes.txt": b"x",
        "data/wmt22/sources/run.sh": b"rm",
        "__MACOSX/wmt22/sources/._en-de.txt": b"x",
        "data/wmt22/sources/.DS_Store": b"x",
    }
    assert contents(zipped(files)) == {f"data/{SOURCE}": b"a\n"}


def test_a_set_without_a_folder_is_named_after_its_archive() -> None:
    archive = zipped({"sources/en-de.txt": b"a\n"}, "wmt23.sent.zip")
    assert contents(archive) == {"wmt23.sent/sources/en-de.txt": b"a\n"}


def test_files_chosen_together_become_an_archive() -> None:
    sent = InputFile.holding("en-de.txt", b"a\n")
    assert contents(InputFile.holding("x.zip", packed([(SOURCE, sent)]))) == {SOURCE: b"a\n"}


@pytest.mark.parametrize("path", [
    "../sources/en-de.txt", "/etc/sources/en-de.txt", "a/../../sources/en-de.txt",
    "a\\..\\sources/en-de.txt", "C:/sources/en-de.txt", "sources/en\n-de.txt",
])  # fmt: skip
def test_paths_that_lead_outside_are_refused(path: str) -> None:
    for archive in (zipped({path: b"a\n"}), tarred(member(path))):
        with refused("mtme.unsafe-path"):
            contents(archive)


def test_links_are_refused() -> None:
    for kind in (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE, tarfile.CHRTYPE):
        with refused("mtme.link-or-device"):
            contents(tarred(member(SOURCE, kind, "/etc/passwd")))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        info = zipfile.ZipInfo(SOURCE)
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "/etc/passwd")
    with refused("mtme.link"):
        contents(InputFile.holding("x.zip", buffer.getvalue()))


@pytest.mark.parametrize("name", ["scores.pkl", "wmt22/metric-scores/en-de/x.npy", "a.PT"])
def test_pickles_are_refused(name: str) -> None:
    with refused("mtme.pickle"):
        contents(zipped({name: b"\x80\x04"}))


def test_bombs_end_where_the_limit_is(settings: Any) -> None:
    settings.MAX_UNPACKED_BYTES = 100_000
    zeros = bytes(2_000_000)
    for archive in (
        zipped({SOURCE: zeros}),
        tarred(member(SOURCE), content=zeros),
        # What is skipped counts too, and so does a header that claims to be long.
        tarred(member("wmt22/README"), content=zeros),
        InputFile.holding("x.gz", gzip.compress(long_header())),
    ):
        assert archive.size < 100_000
        with refused("mtme.too-large"):
            contents(archive)


def long_header() -> bytes:
    """A header of a member whose extended header alone has a gigabyte, as it says."""
    info = tarfile.TarInfo("x")
    info.type, info.size = tarfile.XHDTYPE, 1_000_000_000
    return info.tobuf(tarfile.PAX_FORMAT) + bytes(2_000_000)


@pytest.mark.parametrize("content", [
    b"", b"PK\x03\x04 cut off", b"\x1f\x8b cut off", b"BZh9 no", b"\xfd7zXZ\x00 no", b"some text",
])  # fmt: skip
def test_what_is_no_archive_is_refused_by_name(content: bytes) -> None:
    with pytest.raises(ValidationError) as caught:
        contents(InputFile.holding("set.zip", content))
    [refusal] = messages_of(caught.value)
    assert (refusal.code, refusal.parameters["archive"]) == ("mtme.damaged", "set.zip")


def test_a_damaged_member_is_refused() -> None:
    whole = zipped({SOURCE: b"a line\n" * 1000})
    with whole.open() as stream:
        data = bytearray(stream.read())
    data[len(SOURCE) + 34] ^= 0xFF
    with refused("mtme.damaged"):
        contents(InputFile.holding("set.zip", bytes(data)))


def test_the_same_path_twice_is_refused() -> None:
    with refused("mtme.file-twice"):
        contents(tarred(member(SOURCE), member(SOURCE.replace("en-de", "EN-DE"))))


def test_a_larger_upload_is_refused_unread(settings: Any) -> None:
    settings.MAX_UPLOAD_BYTES = 10
    with refused("mtme.archive-too-large"):
        contents(zipped({SOURCE: b"a\n"}))


def test_no_file_is_written_outside(tmp_path: Path) -> None:
    with unpacked(zipped({SOURCE: b"a\n"})) as folder:
        assert [path.name for path in folder.iterdir()] == ["wmt22"]
