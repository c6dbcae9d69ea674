"""Recordings and pictures with a test set: which are taken, under which names, and for how long."""

import io
import os
import sys
import wave
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError

from annotation import uploads
from annotation.models import Segment, TestSet
from annotation.uploads import Checked, InputFile, Submission
from annotation.uploads.media.elements import RefusedTagError, Tag, read_tag
from annotation.uploads.media.storage import MAX_AGE, forget_unused, format_of, path_of

HEADER = "segment\tsource\tmedia\tmedia_start\tmedia_end\ttranscript\tglossary\tsystem:A\n"


@pytest.fixture(autouse=True)
def storage(settings: object, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"  # type: ignore[attr-defined]


def wav(seconds: float = 0.1, pitch: int = 1) -> bytes:
    """A recording as the standard library writes it."""
    buffer = io.BytesIO()
    with wave.open(buffer, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8_000)
        sound.writeframes(bytes([0, pitch]) * int(8_000 * seconds))
    return buffer.getvalue()


def archive(**files: bytes) -> InputFile:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("talks/", b"")
        for name, data in files.items():
            packed.writestr(name.replace("__", "/").replace("_wav", ".wav"), data)
        packed.writestr("__MACOSX/._one.wav", b"rest")
    return InputFile.holding("media.zip", buffer.getvalue())


def check(table: str, *media: InputFile) -> Checked:
    head = {"slug": "talks", "name": "Talks", "source_language": "de", "target_language": "en"}
    tables = [InputFile.holding("t.tsv", (HEADER + table).encode())]
    return uploads.check_submission(Submission(**head, tables=tables, media=list(media)))


def errors(checked: Checked) -> list[tuple[str, str]]:
    return [(str(error.place), error.code) for error in checked.report.errors]


TWO = (
    "a\t\ttalks/one.wav\t0.5\t2.25\tGuten Morgen.\tMorgen = morning\tMorning.\n"
    "b\tGute Nacht.\ttwo.wav\t\t\t\t\tNight.\n"
)


def test_files_of_an_archive_stand_beside_their_segments(db: None) -> None:
    checked = check(TWO, archive(talks__one_wav=wav(), more__two_wav=wav(pitch=2)))
    assert errors(checked) == []
    uploads.store(checked.draft)
    first, second = Segment.objects.order_by("position")
    # Without a source text the transcript is what metrics read.
    assert first.source == "Guten Morgen."
    name = first.beside.pop("file")
    assert first.beside == {
        "kind": "audio", "type": "audio/wav", "start": 0.5, "end": 2.25, "is_source": True,
        "transcript": "Guten Morgen.", "glossary": "Morgen = morning",
    }  # fmt: skip
    assert path_of(name).read_bytes() == wav()
    assert set(second.beside) == {"file", "kind", "type"}
    again = check(TWO, archive(talks__one_wav=wav(), more__two_wav=wav(pitch=2)))
    assert (errors(again), again.changes.is_empty) == ([], True)
    others = check(TWO, archive(talks__one_wav=wav(pitch=3), more__two_wav=wav(pitch=2)))
    assert errors(others)[0][1] == "stored.attachments"
    _files_that_nobody_needs_go(Path(path_of(name)).parent)


def _files_that_nobody_needs_go(folder: Path) -> None:
    assert len(list(folder.iterdir())) == 3
    for path in folder.iterdir():
        os.utime(path, (path.stat().st_mtime - 2 * MAX_AGE,) * 2)
    assert forget_unused() == 1  # the one of the refused upload
    TestSet.objects.all().delete()
    assert forget_unused() == 2


@pytest.mark.parametrize(
    ("cell", "files", "code"),
    [
        ("x.wav", {"one_wav": wav()}, "media.missing"),
        ("one.wav", {"one_wav": b"<svg onload=alert(1)>"}, "media.format"),
        ("one.wav", {"one_wav": wav(2)}, "media.too-large"),
        ("one.wav", {"p__one_wav": wav(), "q__one_wav": wav()}, "media.ambiguous"),
    ],
)  # fmt: skip
def test_refused_files(
    db: None, settings: object, cell: str, files: dict[str, bytes], code: str
) -> None:
    settings.MAX_MEDIA_BYTES = 10_000  # type: ignore[attr-defined]
    checked = check(f"a\tEins.\t{cell}\t\t\t\t\tOne.\n", archive(**files))
    error = checked.report.errors[0]
    assert str(error.place) == "t.tsv, row 2, media"
    reason = error.message.parameters.get("reason", error.message)
    assert reason.code == code


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("import sys; sys.exit(b'RIFF' not in sys.stdin.buffer.read())", None),
        ("import sys; sys.exit(b'RIFF' in sys.stdin.buffer.read())", "media.virus"),
        ("import sys; sys.exit(2)", "media.not-scanned"),
        (None, "media.not-scanned"),
    ],
)
def test_a_virus_scanner_has_the_last_word(
    db: None, settings: Any, command: str | None, code: str | None
) -> None:
    settings.SCAN_COMMAND = [sys.executable, "-c", command] if command else ["/nowhere/scanner"]
    checked = check("a\tEins.\tone.wav\t\t\t\t\tOne.\n", archive(one_wav=wav(pitch=9)))
    reasons = [error.message.parameters["reason"].code for error in checked.report.errors]
    assert reasons == ([code] if code else [])


def test_faults_of_fields_and_archives(db: None, settings: object) -> None:
    row = "a\tEins.\tone.wav\t3\t2\t\t\tOne.\nb\tZwei.\t\tx\t\t\t\tTwo.\n"
    found = errors(check(row, archive(one_wav=wav())))
    assert ("t.tsv, row 2, media_end", "media.end-before-start") in found
    assert ("t.tsv, row 3, media_start", "media.seconds") in found
    broken = archive(one_wav=wav()).open().read()[:-30]
    assert ("m.zip", "media.archive") in errors(check(TWO, InputFile.holding("m.zip", broken)))
    settings.MAX_UNPACKED_BYTES = 100  # type: ignore[attr-defined]
    assert errors(check(TWO, archive(one_wav=wav())))[0][1] == "media.unpacked"


def test_a_file_that_is_gone_is_not_referred_to(db: None) -> None:
    checked = check(TWO, archive(talks__one_wav=wav(pitch=5), two_wav=wav(pitch=6)))
    path_of(checked.draft.segments[0].attachments["file"]).unlink()
    with pytest.raises((ValidationError, uploads.OutdatedError)):
        uploads.store(checked.draft)
    assert not TestSet.objects.exists()


# First bytes as the formats' own documents give them, and look-alikes that no browser plays.
@pytest.mark.parametrize(
    ("head", "content_type"),
    [
        (wav()[:64], "audio/wav"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"),
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"),
        (b"RIFF\x24\0\0\0WEBPVP8 ", "image/webp"),
        (b"GIF89a\x01\0", "image/gif"),
        (b"ID3\x04\0\0", "audio/mpeg"),
        (b"\xff\xfb\x90\x64", "audio/mpeg"),
        (b"OggS\0\x02" + bytes(22) + b"OpusHead", "audio/ogg"),
        (b"fLaC\0\0\0\x22", "audio/flac"),
        (b"\0\0\0\x20ftypM4A \0\0\0\0", "audio/mp4"),
        (b"\0\0\0\x20ftypisom\0\0\2\0", "video/mp4"),
        (b"\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm" + bytes(40) + b"V_VP9", "video/webm"),
        (b"\x1a\x45\xdf\xa3\x9f\x42\x82\x84webm" + bytes(40) + b"A_OPUS", "audio/webm"),
        (b"\x1a\x45\xdf\xa3\x9f\x42\x82\x88matroska" + b"V_VP9", None),
        (b"\xff\xf1\x50\x80", None),  # AAC without a container
        (b"\xff\xfb\x9c\x64", None),  # no such sampling rate
        (b"OggS\0\x02" + bytes(22) + b"\x80theora", None),
        (b"\0\0\0\x18ftypheic\0\0", None),
        (b"<svg xmlns='http://www.w3.org/2000/svg'>", None),
        (b"<!doctype html>", None),
        (b"", None),
    ],
)
def test_formats_by_content(head: bytes, content_type: str | None) -> None:
    found = format_of(head)
    assert (found.content_type if found else None) == content_type


def test_one_tag_and_its_file_alone() -> None:
    tag = "<video src='assets/wmt26/a%20b.mp4?x=1#t=2' controls style='width: 9em'></video>"
    assert read_tag(tag) == Tag("assets/wmt26/a b.mp4")
    assert read_tag('<img src="s.png" alt="A street">') == Tag("s.png", "A street")
    assert read_tag("a < b <b>bold</b>") is None


@pytest.mark.parametrize(
    ("source", "code"),
    [
        ("<iframe src=a.mp4></iframe>", "media.tag"),
        ("<script>alert(1)</script>", "media.tag"),
        ("<SVG/onload=alert(1)>", "media.tag"),
        ("<audio src=a.mp3 onplay=alert(1)>", "media.script"),
        ("<audio src=a.mp3></audio><script>1</script>", "media.tag"),
        ("<audio src='data:audio/wav;base64,UklG'>", "media.elsewhere"),
        ("<img src=' JavaScript:alert(1)'>", "media.elsewhere"),
        ("<img src='https://example.org/a.png'>", "media.elsewhere"),
        ("<img src='//example.org/a.png'>", "media.elsewhere"),
        ("<audio controls>", "media.no-src"),
        ("<audio src=a.mp3></audio> and text", "media.one-tag"),
        ("<img src=a.png><img src=b.png>", "media.one-tag"),
    ],
)
def test_tags_that_are_refused(source: str, code: str) -> None:
    with pytest.raises(RefusedTagError) as caught:
        read_tag(source)
    assert caught.value.message.code == code
