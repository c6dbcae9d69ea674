"""Encodings that Excel and old programs write, on Django's texts in many languages."""

import gettext
from pathlib import Path

import django
import pytest

from metaeval.commands import main
from metaeval.files.decoding import UndecodableError, decode
from metaeval.files.encodings import ENCODINGS

CODECS = {
    "cs": ("cp1250", "iso8859_2", "mac_latin2", "cp852"), "pl": ("cp1250", "iso8859_2"),
    "hu": ("cp1250",), "sk": ("cp1250",), "hr": ("cp1250",), "ro": ("cp1250",),
    "ru": ("cp1251", "koi8_r", "iso8859_5", "cp866", "mac_cyrillic"), "uk": ("cp1251",),
    "bg": ("cp1251",), "de": ("cp1252", "mac_roman"), "fr": ("cp1252", "mac_roman"),
    "es": ("cp1252",), "it": ("cp1252",), "pt": ("cp1252",), "sv": ("cp1252",), "da": ("cp1252",),
    "ja": ("cp932", "euc_jp", "iso2022_jp"), "zh_Hans": ("gb18030",), "zh_Hant": ("cp950",),
    "ko": ("cp949",), "el": ("cp1253",), "tr": ("cp1254",), "he": ("cp1255",), "ar": ("cp1256",),
    "lt": ("cp1257",), "th": ("cp874",),
}  # fmt: skip


def sentences(language: str, codec: str) -> list[str]:
    """Messages that an encoding can write, not all of them ASCII."""
    folder = Path(django.__file__).parent / "conf" / "locale" / language / "LC_MESSAGES"
    with (folder / "django.mo").open("rb") as file:
        texts = gettext.GNUTranslations(file)._catalog.values()  # type: ignore[attr-defined]
    kept = sorted({str(text).replace("\n", " ") for text in texts if 15 < len(str(text)) < 300})
    return [t for t in kept if not t.isascii() and t.encode(codec, "ignore").decode(codec) == t]


@pytest.mark.parametrize("language", CODECS)
def test_an_encoding_is_recognised_or_asked_for(language: str) -> None:
    """No text of five lines is read wrongly; of twenty, many are."""
    for codec in CODECS[language]:
        texts = sentences(language, codec)
        for n, n_least in ((5, 0), (20, 0.4)):
            parts = ["\n".join(texts[at :: len(texts) // n]) for at in range(len(texts) // n)]
            found = [_read(part.encode(codec)) for part in parts]
            wrong = [t for t, part in zip(found, parts, strict=True) if t not in ("", part)]
            assert not wrong, (codec, n)
            assert len(found) - found.count("") >= n_least * len(found), (codec, n)


def test_english_with_the_signs_of_windows_is_no_language_of_an_old_mac() -> None:
    for text in (
        "It doesn’t matter.",
        "“Yes,” she said – it’s fine…",
        "I’m here, you’re there\n" * 9,
    ):
        assert _read(text.encode("cp1252")) == text
    # French of a few accents is Cyrillic, too, but for words of two scripts.
    assert _read("Déjà vu, très bien — “d’accord”".encode("cp1252")) in (
        "",
        "Déjà vu, très bien — “d’accord”",
    )


def _read(data: bytes) -> str:
    try:
        return decode(data).text
    except UndecodableError:
        return ""


def test_what_a_person_states_is_taken_where_a_file_is_not_utf_8() -> None:
    text = "Přílíš žluťoučký kůň"
    for name, codec in ENCODINGS.items():
        try:
            data = text.encode(codec)
        except UnicodeEncodeError:
            continue
        for stated in (name, name.lower(), codec):
            read = decode(data, encoding=stated)
            assert (read.text, read.encoding) == (text, name)
            assert read.encodings[name]
    assert decode(text.encode(), encoding="cp1250").text == text
    for stated in ("UTF-9", "hex"):
        with pytest.raises(UndecodableError) as caught:
            decode("ž".encode("cp1250"), encoding=stated)
        assert caught.value.message.code == "file.encoding-wrong"


def test_bytes_of_no_language_are_refused() -> None:
    with pytest.raises(UndecodableError) as caught:
        decode(bytes(range(128, 256)) * 3)
    assert caught.value.message.code == "file.encoding-unclear"


def test_commands_read_the_encoding_that_is_stated(tmp_path, capsys):
    path = tmp_path / "scores.csv"
    rows = [f"Łódź;{n};{n};{n * n}" for n in range(1, 6)]
    table = "\n".join(["system;segment;human;žluť", *rows])
    found = []
    for data, more in (
        (table.encode(), ()),
        (table.encode("cp1250"), ("--encoding", "Windows-1250")),
    ):
        path.write_bytes(data)
        assert main(["correlate", str(path), "--human", "human", *more]) == 0
        found.append(capsys.readouterr().out)
    assert found[0] == found[1]
    assert "žluť" in found[0]
    assert main(["correlate", str(path), "--human", "human", "--encoding", "ascii"]) == 2
