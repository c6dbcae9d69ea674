"""Whatever a table holds, the doors refuse it with its errors or store it once: nothing breaks."""

import json
import random
import string
from typing import Any

import pytest
from django.db import transaction

from annotation.imports import human_scores, judgments
from annotation.imports.judgments import Options
from annotation.imports.store import examine, launch
from annotation.uploads import InputFile, Report
from metaeval.messages import Message

ROUNDS, PER_ROUND = 6, 50
SPANS = (
    "", "[]", "{", "[1]", '{"payload": []}', '[{"severity": "minor"}]',
    '[{"start": 0, "end": 1, "severity": "minor"}]',
    '[{"start_i": 0, "end_i": 1, "severity": "major", "error_type": ["Accuracy"]}]',
    '[{"start": 1e308, "end": 2, "severity": "minor"}]',
    '[{"start": true, "end": 2, "severity": ["x"], "category": {"a": 1}}]',
)  # fmt: skip
TIMES = (
    "", "0", "1714550400", "1714550400000", "2024-05-01T10:00:00Z", "2024-05-01", "-5", "1e30",
    "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "later",
)  # fmt: skip
SANE: dict[str, tuple[Any, ...]] = {
    "annotator": ("R1", "R2"), "segment": ("1", "2", "3"), "system": ("a", "b"),
    "score": ("80", "10", "0"), "output": ("Out.",), "source": ("Quelle",),
}  # fmt: skip
WILD: dict[str, tuple[Any, ...]] = {
    "annotator": ("R1", " R1 ", "", "R\x00", "R" * 90, None, 5, True, ["a"], {"a": 1}),
    "segment": ("1", "", " 4", "x" * 130, 2.5, None),
    "system": ("a", "A", "", None, "c" * 130, 3),
    "score": ("-3", "3.5", "", "nan", "inf", "1e400", "abc", 50.5, True, None, [1], "１２"),
    "kind": ("", "TGT", "BAD", "REPEAT", "REF", "TRAP", "GOLD", "TUTORIAL", "DOCUMENT", "new", 3),
    "spans": SPANS, "started_at": TIMES, "submitted_at": TIMES,
    "seconds": ("", "5", "-1", "1e12", "x"),
    "severity": ("", "minor", "major", "no-error", "undecided", "critical"),
    "category": ("", "Accuracy/Omission", "x" * 200, "//"),
    "side": ("", "target", "source", "missing", "none", "up"),
    "span_start": ("", "0", "1", "missing", "x", "-1"), "span_end": ("", "1", "9" * 14),
    "language_pair": ("de-en", "zh-en", "", "xx", "de-en-de", "---"),
    "source_language": ("de", "", "xx-1"), "target_language": ("en", "", None),
    "document": ("", "d1", "d2#a#bad1", "d1#duplicate2", "d" * 300),
    "document_place": ("", "1", "2"), "level": ("", "true", "segment", "huh"),
    "source": ("Quelle", "Andere", None, 5, "a\x00b"), "reference": ("", "Ref", "Other"),
    "output": ("", "Out one", "Out two", "\u2028x", "a\x01"),
    "item": ("", "1", "2", "3"), "partner": ("", "1", "9"), "batch": ("", "h1", "h" * 100),
    "campaign": ("", "c1", "c-1", "中文"), "comment": ("", "=1+1", "a\x00"),
    "is_flagged": ("", "yes", "perhaps"), "revision": ("", "1", "2", "1.5"),
    "protocol": ("", "esa", "mqm", "document-da", "side-by-side", "nope"),
    "length_ratio": ("1", "0.8", ""), "low": ("", "10", "-5", "9" * 11), "high": ("", "90"),
    "score_name": ("", "da", "mqm"),
}  # fmt: skip
BESIDE = (("segment", "source"), ("segment", "system", "output"), ("segment", "system", "severity"))


def table(rng: random.Random, name: str, fields: tuple[str, ...]) -> InputFile:
    columns = list(dict.fromkeys((*fields, *rng.sample(list(WILD), rng.randint(0, 7)))))
    wildness = rng.choice((0.0, 0.02, 0.2))
    rows = [{c: cell(rng, c, wildness) for c in columns} for _ in range(rng.randint(1, 8))]
    if rng.random() < 0.5:
        text = "".join(json.dumps(row) + "\n" for row in rows)
        return InputFile.holding(f"{name}.jsonl", text.encode())
    lines = ["\t".join("" if v is None else str(v) for v in row.values()) for row in rows]
    return InputFile.holding(f"{name}.tsv", "\n".join(["\t".join(columns), *lines]).encode())


def cell(rng: random.Random, column: str, wildness: float) -> Any:
    is_wild = column not in SANE or rng.random() < wildness
    return rng.choice((WILD if is_wild else SANE)[column])


def options(rng: random.Random) -> Options:
    return Options(
        name="F",
        source_language="de",
        target_language="en",
        ties=rng.choice(("", "last")),
        scale=rng.choice((None, (0.0, 100.0))),
        annotator=rng.choice(("", "X")),
        system=rng.choice(("", "S")),
        protocol=rng.choice(("", "", "esa", "mqm", "document-da")),
        ends_included=rng.random() < 0.3,
    )


@pytest.mark.parametrize("number", range(ROUNDS))
def test_any_table_is_refused_or_stored_once(db: None, number: int) -> None:
    rng = random.Random(number)
    outcomes = {store_or_refuse(rng) for _ in range(PER_ROUND)}
    assert outcomes == {True, False}


def store_or_refuse(rng: random.Random) -> bool:
    """Whether a table was stored; nothing of it stays."""
    door = rng.choice((judgments.read, human_scores.read))
    files = [table(rng, "one", ("annotator", "segment", "system", "score"))]
    files += [table(rng, "two", rng.choice(BESIDE))] if rng.random() < 0.4 else []
    report = Report()
    with transaction.atomic():
        drafts = door(files, options(rng), report).drafts
        if not report.errors:
            examine(drafts, report)
        if not report.errors:
            assert all(each.result.is_new for each in launch(drafts))
            assert not any(each.result.is_new for each in launch(drafts))
        transaction.set_rollback(True)
    assert [problem.message for problem in report.problems if is_nameless(problem.message)] == []
    return not report.errors


def is_nameless(message: Message) -> bool:
    """Whether a parameter that the text shows is empty."""
    shown = {name for _, name, *_ in string.Formatter().parse(message.english) if name}
    values = [message.parameters[name] for name in shown]
    nested = [each for value in values for each in (value if isinstance(value, list) else [value])]
    return any(value in ("", None, []) for value in (*values, *nested)) or any(
        is_nameless(each) for each in nested if isinstance(each, Message)
    )
