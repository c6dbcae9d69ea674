"""The largest uploads that are read, and larger or damaged ones that are refused.

    python -m benchmarks.annotation.upload_reading

Prints processor seconds of the check that a browser waits for (reading, checking, keeping for the
confirmation) and of storing, beside pandas on the same bytes in the same run.
"""

import io
import json
import os
import random
import tempfile
import time
from collections.abc import Callable
from itertools import islice

os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-benchmark-")
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

import pandas
from django.core.management import call_command

from annotation import uploads
from annotation.uploads import InputFile, Submission, SystemFile
from annotation.uploads.problems import Report
from annotation.uploads.tables.rows import read_table
from benchmarks.ratios import row

WORDS = "harbour river market street morning evening train window paper number light".split()
COLUMNS = ("segment", "source", "reference", "system:a", "system:b")
LINES = 50_000
HEAD = {"slug": "refused", "name": "Large", "source_language": "de", "target_language": "en"}


def sentences(number: int, words: int = 12) -> list[str]:
    rng = random.Random(number)
    return [" ".join(rng.choices(WORDS, k=words)) for _ in range(number)]


def table(mark: str, lines: int) -> str:
    rows = [mark.join(COLUMNS)]
    texts = iter(sentences(4 * lines))
    rows += [mark.join([str(i), *islice(texts, 4)]) for i in range(lines)]
    return "\n".join(rows) + "\n"


def jsonl(lines: int) -> str:
    texts = iter(sentences(4 * lines))
    rows = (dict(zip(COLUMNS, [i, *islice(texts, 4)], strict=True)) for i in range(lines))
    return "".join(json.dumps(row) + "\n" for row in rows)


def wide(columns: int, rows: int) -> str:
    names = ["source", *(f"system:s{i}" for i in range(columns - 1))]
    line = "\t".join(["a quiet harbour"] * columns)
    return "\n".join(["\t".join(names), *[line] * rows]) + "\n"


def plain(lines: int, words: int = 12) -> Submission:
    data = ("\n".join(sentences(lines, words)) + "\n").encode()
    files = [InputFile.holding(name, data) for name in ("s.txt", "r.txt", "a.txt", "b.txt")]
    systems = [SystemFile(files[2], "a"), SystemFile(files[3], "b")]
    return Submission(**HEAD, source=files[0], references=[files[1]], systems=systems)


def of_table(name: str, text: str) -> Submission:
    return Submission(**HEAD, tables=[InputFile.holding(name, text.encode())])


def seconds(action: Callable[[], object]) -> float:
    began = time.process_time()
    action()
    return time.process_time() - began


def peer(name: str, text: str) -> float:
    """Seconds of the plainest reading into rows of named cells."""
    if name.endswith("jsonl"):
        return seconds(lambda: pandas.read_json(io.StringIO(text), lines=True))
    mark = "\t" if name.endswith("tsv") else ","
    return seconds(lambda: pandas.read_csv(io.StringIO(text), sep=mark))


def compare(name: str, text: str) -> None:
    """Our reading into rows of named cells, and the whole check, beside the peer's reading."""
    data = text.encode()

    def read() -> None:
        assert read_table(InputFile.holding(name, data), Report())

    ours = min(seconds(read) for _ in range(3))
    theirs = min(peer(name, text) for _ in range(3))
    kind = name.rpartition(".")[2].upper()
    row(f"reading {LINES * 4:,} texts: {kind}", "pandas", (ours, theirs), bound=0.5, limit="Python")
    checked = seconds(lambda: uploads.check_submission(of_table(name, text)))
    row(
        f"the same, all checks: {kind}",
        "pandas, unchecked",
        (checked, theirs),
        bound=None,
        limit="Python",
    )


def measure(label: str, submission: Submission) -> uploads.Checked:
    checked: list[uploads.Checked] = []

    def check() -> None:
        checked.append(uploads.check_submission(submission))

    took = seconds(check)
    errors = checked[0].report.errors
    print(f"{label:44s} {took:6.2f} s", flush=True)
    if errors:
        print(f"    {errors[0]}"[:160])
    return checked[0]


def largest() -> None:
    """What is just allowed, as each kind of file, and stored."""
    measure("plain text", plain(LINES))
    for name, content in (
        ("t.tsv", table("\t", LINES)), ("t.csv", table(",", LINES)), ("t.jsonl", jsonl(LINES)),
    ):  # fmt: skip
        compare(name, content)
        checked = measure(name, of_table(name, content))
    checked.draft.slug = "large"
    print(f"{'storing them':44s} {seconds(lambda: uploads.store(checked.draft)):6.2f} s")


def too_large() -> None:
    """What is refused, and how soon."""
    measure("1,000,000 lines, source, reference, 2 outputs", plain(1_000_000, words=3))
    measure("5,000 columns, 100 rows", of_table("t.tsv", wide(5_000, 100)))
    measure("a line of 100 MB", of_table("t.tsv", "source\n" + "x" * 100_000_000))
    deep = '{"source": ' + '{"a":' * 10_000_000 + "\n"
    measure("JSON 10,000,000 objects deep", of_table("t.jsonl", deep))
    unclosed = table(",", LINES // 2).replace("\n0,", '\n"0,', 1)
    measure("CSV with a quotation mark never closed", of_table("t.csv", unclosed))
    ragged = "source\treference\n" + "one cell\n" * 150_000
    measure("150,000 ragged rows", of_table("t.tsv", ragged))


def main() -> None:
    call_command("migrate", verbosity=0)
    print(f"{LINES * 4:,} texts, the most that one upload may hold")
    largest()
    print("refused")
    too_large()


if __name__ == "__main__":
    main()
