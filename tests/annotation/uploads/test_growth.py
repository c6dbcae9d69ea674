"""No reader of what users send takes more than its share of time, whatever the text repeats."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.cache import cache

from annotation import uploads
from annotation.imports.jsonfiles import read_json
from annotation.judging.instructions import to_html
from annotation.uploads import InputFile, Submission
from annotation.uploads.media.elements import RefusedTagError, read_tag
from annotation.uploads.normalising import decode
from annotation.uploads.problems import Report
from extensions.formats.readers.mqm import read_tags
from tests.metaeval.published import DATA

# Text is multiplied by the first number, and time at most by the second: 8 is linear, 64 quadratic.
SIZE, TIMES, MOST = 5_000, 8, 24
PIECES = (
    "<a ", "<", "<!--", "<!", "</", "<?", '<seg id="', "<seg id='", "<a b=", "&", "&#", "&a", "a=",
    '"', "'", "[", "]", "{", '{"a":', "\\", "\\u", "(", "*", "_", "`", "> ", "- ", "|", "![", "](",
    " ", "\t", "\n", " \n", "\r\n", ",", ";", "a", "0", "<v>", "</v>", "<v></v>", "<audio ",
    "\ufeff", "é", "<!-- -->",
)  # fmt: skip
WMT = "<srcset setid='x' srclang='en'><doc docid='d'><seg id=1>"
STARTS = {
    "set.sgm": WMT,
    "set.xml": "<?xml version='1.0'?><dataset><doc id='d'><src lang='en'><seg id='1'>",
    "set.tmx": "<tmx><body><tu><tuv xml:lang='en'><seg>",
    "set.xlf": "<xliff version='1.2'><file><body><trans-unit id='1'><source>",
    "set.tsv": "segment\tsource\treference\n1\t",
    "set.csv": "segment,source,reference\n1,",
    "set.jsonl": "{",
    "set.txt": "",
}


def upload(name: str) -> Callable[[str], object]:
    def read(text: str) -> object:
        file = InputFile.holding(name, (STARTS[name] + text).encode())
        given = {"source": file} if name.endswith(".txt") else {"tables": [file]}
        return uploads.check_submission(
            Submission("s", "S", "de", "en", **given)  # type: ignore[arg-type]
        )

    return read


def tag(text: str) -> object:
    try:
        return read_tag("<audio " + text)
    except RefusedTagError as error:
        return error


def marks(text: str) -> object:
    try:
        return read_tags(text)
    except ValueError as error:
        return error


def markdown(text: str) -> object:
    cache.clear()
    return to_html(text)


READERS: dict[str, Callable[[str], object]] = {
    **{name: upload(name) for name in STARTS},
    "json": lambda text: read_json(InputFile.holding("a.json", text.encode()), Report()),
    "a tag": tag,
    "marked parts": marks,
    "entities": decode,
    "Markdown": markdown,
}


def seconds(read: Callable[[str], object], text: str) -> float:
    """Processor seconds of one reading."""
    begun = time.process_time()
    read(text)
    return time.process_time() - begun


@pytest.mark.parametrize("name", READERS)
def test_time_grows_with_the_text_alone(name: str, db: None) -> None:
    read, slow = READERS[name], {}
    for piece in PIECES:
        short, long = (piece * (size // len(piece)) for size in (SIZE, SIZE * TIMES))
        taken = seconds(read, long)
        # Only what takes noticeable time can be compared.
        if taken > MOST / 100 and taken > MOST * max(seconds(read, short) for _ in range(3)):
            slow[piece] = taken
    assert slow == {}


def test_an_attack_on_sgml_is_read_at_once(db: None) -> None:
    file = Path(DATA).parent / "cases" / "attack" / "slow.sgm"
    begun = time.process_time()
    uploads.check_submission(
        Submission("s", "S", "de", "en", tables=[InputFile.holding("slow.sgm", file.read_bytes())])
    )
    assert time.process_time() - begun < 1.0
