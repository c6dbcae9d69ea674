"""Layers tell each other facts: messages with literal patterns, never prose that is parsed."""

import ast
import re
import string
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from typing import NamedTuple

import pytest
from django.conf import settings
from django.utils import translation

from annotation.management.commands.messages import all_code
from core.extensions import template_folders
from core.messages import MessageField, as_json, sentences, translated
from metaeval.messages import (
    FORMAT,
    coefficient,
    from_json,
    grouped,
    message,
    p_value,
    plural,
    truncated,
)
from tests.house import words

ROOT = Path(settings.BASE_DIR)
CODE = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*(\.[a-z0-9]+(-[a-z0-9]+)*)+")


# How many of the arguments are texts: the code and the patterns.
N_TEXTS = {"message": 2, "invalid": 2, "data_error": 2, "if_missing": 2, "plural": 3}


class Call(NamedTuple):
    """A call of `message` or `plural` in the code."""

    place: str
    code: str
    patterns: tuple[str, ...]
    names: frozenset[str]
    is_open: bool


@cache
def calls() -> list[Call]:
    return [call for path in all_code() for call in _calls(path)]


def _calls(path: Path) -> Iterator[Call]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "id", "") or getattr(node.func, "attr", "")
        is_of_report = name in ("warn_of", "note_of")
        if not is_of_report and not isinstance(node.func, ast.Name):
            continue
        n_texts = N_TEXTS.get(name, 3 if is_of_report else None)
        if n_texts is None or (path.name == "messages.py" and path.parent.name == "commands"):
            continue
        place = f"{path.relative_to(ROOT)}:{node.lineno}"
        texts = [getattr(each, "value", None) for each in node.args[is_of_report:][:n_texts]]
        assert len(texts) == n_texts, place
        assert all(isinstance(each, str) for each in texts), f"{place}: not literal"
        code, *patterns = map(str, texts)
        names = frozenset(each.arg for each in node.keywords if each.arg)
        names = (names | {"n"}) - {"place"} if is_of_report else names
        is_open = any(each.arg is None for each in node.keywords)
        yield Call(place, code, tuple(patterns), names, is_open)


def test_there_are_messages() -> None:
    assert len(calls()) > 500


def test_codes_are_short_and_each_says_one_thing() -> None:
    said = defaultdict(set)
    for call in calls():
        assert CODE.fullmatch(call.code), f"{call.place}: {call.code}"
        said[call.code].add(call.patterns)
    assert {code: texts for code, texts in said.items() if len(texts) > 1} == {}


def test_patterns_and_parameters_belong_together() -> None:
    wrong = []
    for call in calls():
        used = set()
        for pattern in call.patterns:
            for _, name, spec, conversion in string.Formatter().parse(pattern):
                if name is not None:
                    used.add(name)
                    if not FORMAT.fullmatch(spec or "") or conversion:
                        wrong.append(f"{call.place}: {{{name}:{spec}}}")
        used |= {"n"} if len(call.patterns) == 2 else set()
        if used != call.names and not (call.is_open and used >= call.names):
            wrong.append(f"{call.place}: {sorted(used ^ call.names)}")
    assert wrong == []


def test_commands_refuse_with_messages() -> None:
    """`RefusedCommandError` has messages; Django's own error has a sentence."""
    found = {
        str(path.relative_to(ROOT))
        for path in all_code()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("django.")
        if any(each.name == "CommandError" for each in node.names)
    }
    assert found == {"core/commands.py"}


# Where code reads what people send or write on a command line; statistics read what they pass on.
READERS = re.compile(
    r"^metaeval/(?!messages)|(^|/)(commands|forms|views|api|imports|uploads|exports|campaign_files|filters|entry"
    r"|qualification|web|datasets|parallel|config|lifecycle)/|__main__\.py$"
)


PYTHONS = ("ValueError", "TypeError", "KeyError", "LookupError")


def test_what_people_send_is_refused_with_messages() -> None:
    """A plain error is for programs that pass wrong arguments; `DataError` has a message."""
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in all_code()
        if READERS.search(path.relative_to(ROOT).as_posix())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args
        if getattr(node.exc.func, "id", "") in PYTHONS
    ]
    assert found == []


# Values of files, options and errors of other programs, which have blanks.
DATA = {"gray text", "no error", "no[- ]error\\.?", "trimmed mean", "as the server can",
        "CUDA error", "out of memory"}  # fmt: skip
READING = {"startswith", "endswith", "split", "partition", "rpartition", "replace", "find", "index",
           "removeprefix", "removesuffix", "match", "fullmatch", "search", "count"}  # fmt: skip


def test_code_does_not_decide_by_prose() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {text!r}"
        for path in all_code()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for text in _compared(node)
        if len(re.findall(r"[A-Za-z]{2,}", text)) > 1 and " " in text.strip() and text not in DATA
    ]
    assert found == []


def _compared(node: ast.AST) -> Iterator[str]:
    """Yield the texts that a comparison, or a method that reads a text, looks for."""
    match node:
        case ast.Compare(left=left, comparators=others):
            looked_for = [left, *others]
        case ast.Call(func=ast.Attribute(attr=name), args=[first, *_]) if name in READING:
            looked_for = [first]
        case ast.MatchValue(value=value):
            looked_for = [value]
        case _:
            return
    for each in looked_for:
        for part in getattr(each, "elts", [each]):
            if isinstance(part, ast.Constant) and isinstance(part.value, str):
                yield part.value


# Errors without a message: of Python, Django and the clients of tests.
PLAIN = {"ValueError", "ImproperlyConfigured", "Exception", "AssertionError", "NotImplementedError",
         "SystemCheckError", "LinkError", "TouchstoneError"}  # fmt: skip


def test_tests_ask_errors_for_codes() -> None:
    """`tests.refusals.refused` does; plain errors have no code."""
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in (ROOT / "tests").rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (kind := re.search(r"raises\((\w+), match=", line)) and kind[1] not in PLAIN
    ]
    assert found == []


# What tests are about where they ask for words: texts for annotators, captions, logs.
ABOUT_WORDS = re.compile(r"instructions|standard_text|caption|heading|README|readme|latex|logged")


def test_tests_ask_pages_for_codes() -> None:
    """Not for sentences: three words in a row that stand in code or a template, too.

    `tests.refusals.tells` asks for a message, `data-case` and the like for what a template shows.
    Texts that a test has sent or stored are its own.
    """
    product = _product()
    found = []
    for path in (ROOT / "tests").rglob("*.py"):
        nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
        asked = [node for node in nodes if isinstance(node, ast.Compare) and _is_text(node.left)]
        asked = [node for node in asked if isinstance(node.ops[0], ast.In | ast.NotIn)]
        lefts = {id(node.left) for node in asked}
        texts = (node.value for node in nodes if _is_text(node) and id(node) not in lefts)
        own = {run for text in texts for run in _runs(text)}
        found += [
            f"{path.relative_to(ROOT)}:{node.lineno} {node.left.value!r}"
            for node in asked
            if set(runs := _runs(node.left.value)) & product and not own & set(runs)
            if not ABOUT_WORDS.search(ast.unparse(node.comparators[0]))
        ]
    assert found == []


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _product() -> set[str]:
    """Return the runs of words of code and templates."""
    code = (ast.walk(ast.parse(path.read_text(encoding="utf-8"))) for path in all_code())
    texts = [node.value for nodes in code for node in nodes if _is_text(node)]
    pages = [path for folder in template_folders(ROOT) for path in folder.rglob("*.html")]
    texts += [path.read_text(encoding="utf-8") for path in pages]
    return {run for text in texts for run in _runs(text)}


def _runs(text: str) -> list[str]:
    """Return all three words in a row, without those of markup and parameters."""
    plain = re.sub(r"<[^>]*>|\{\{.*?\}\}|\{%.*?%\}|\{[^}]*\}|%\(\w+\)s", "|", unescape(text))
    parts = re.split(r"[^A-Za-z ’']+", " ".join(plain.split()))
    words = [re.findall(r"[A-Za-z’']{2,}", part) for part in parts]
    return [" ".join(row[k : k + 3]).lower() for row in words for k in range(len(row) - 2)]


def test_templates_do_not_decide_by_prose() -> None:
    tags = re.compile(r"\{% (?:el)?if ([^%]*)%\}")
    found = [
        f"{path.name}: {tag}"
        for folder in template_folders(ROOT)
        for path in folder.rglob("*.html")
        for tag in tags.findall(path.read_text(encoding="utf-8"))
        if any(" " in quoted for quoted in re.findall(r'"([^"]*)"', tag))
    ]
    assert found == []


def test_templates_translate_the_errors_of_forms() -> None:
    """A form has messages as errors; its own list of texts has them in English."""
    lists = re.compile(
        r"\{\{ *[\w.]*errors\.\d+ *\}\}|\{% for \w+ in (?!shown\.)[\w.]+\.errors %\}"
    )
    found = [
        f"{path.name}: {each}"
        for folder in template_folders(ROOT)
        for path in folder.rglob("*.html")
        for each in lists.findall(path.read_text(encoding="utf-8"))
    ]
    assert found == []


def test_english_is_written_as_words_md_asks() -> None:
    faults = [str(each) for path in words.files([]) for each in words.faults(path)]
    assert faults == []


@pytest.mark.parametrize(
    "sample",
    [
        "# A table that hangs on one person.",
        'x = "5 % of items"',
        "def told(): ...",
        "class Held: ...",
    ],
)
def test_the_lint_would_notice(
    sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(words, "ROOT", tmp_path)
    path = tmp_path / "sample.py"
    path.write_text(sample + "\n", encoding="utf-8")
    assert list(words.faults(path))


CASES = (
    (message("x.a", "{tau:r} of {metric}", tau=-0.051, metric="chrF"), "−.05 of chrF"),
    (message("x.b", "{p:p}", p=0.0341), "p = .03"),
    (message("x.b", "{p:p}", p=0.0002), "p < .001"),
    (message("x.c", "{share:percent} of {n}", share=0.7, n=12345), "70% of 12,345"),
    (plural("x.d", "{n} item", "{n} items", n=1), "1 item"),
    (plural("x.d", "{n} item", "{n} items", n=0), "0 items"),
    (message("x.e", "{names}", names=["A", "B", "C"]), "A, B and C"),
    (message("x.e", "{names}", names=truncated("ABCDEFG")), "A, B, C, D, E and 2 more"),
    (message("x.f", "{x:.1f}", x=float("nan")), "undefined"),
    (message("x.g", "{inner} and {name}", inner=message("x.h", "Quality"), name="Quality"),
     "Quality and Quality"),
)  # fmt: skip


@pytest.mark.parametrize(("given", "text"), CASES, ids=lambda each: getattr(each, "code", ""))
def test_english_text(given: object, text: str) -> None:
    assert str(given) == text


@pytest.mark.parametrize("given", [case[0] for case in CASES], ids=lambda each: each.code)
def test_a_message_comes_back_from_the_database(given: object) -> None:
    field = MessageField()
    assert field.from_db_value(field.get_prep_value(given)) == given
    assert from_json(as_json(given)) == given  # type: ignore[arg-type]
    assert field.from_db_value(field.get_prep_value("{free text}")) == "{free text}"


@pytest.mark.parametrize("text", ['{"code"', '{"code": "x.a", "pattern": "{n:999999999d}"}'])
def test_a_text_that_looks_like_a_message_stays_text(text: str) -> None:
    field = MessageField()
    assert field.from_db_value(field.get_prep_value(text)) == text


def test_names_are_never_translated(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {"Quality": "质量", "{name} in {place}: {n}": "{place} 中的 {name}：{n}"}
    monkeypatch.setattr("core.messages.gettext", lambda text: texts.get(text, text))
    said = message(
        "x.i", "{name} in {place}: {n}", name="Quality", place=message("x.h", "Quality"), n=1200
    )
    with translation.override("zh-hans"):
        assert translated(said) == "质量 中的 Quality：1,200"
        assert sentences([said, said]) == "质量 中的 Quality：1,200" * 2
    with translation.override("de"):
        assert translated(message("x.j", "Untranslated {n}", n=1200)) == "Untranslated 1,200"


def test_numbers_and_lists_are_written_as_the_language_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("core.messages.gettext", lambda text: f"_{text}")
    said = message("x.k", "{n} {x:.1f} {names}", n=1200, x=0.5, names=["A", "B", "C"])
    with translation.override("de"):
        assert translated(said) == "_1.200 0,5 A, B und C"
    with translation.override("zh-hans"):
        assert translated(said) == "_1,200 0.5 A、B和C"


def test_what_is_said_of_many_is_said_once() -> None:
    three = [
        message("x.l", "{name}: constant, {k} times.", name=n, k=k)
        for n, k in zip("abc", (3, 9, 4), strict=True)
    ]
    assert [each.text for each in grouped([*three, *three])] == [
        "a, b and c: constant, 3 to 9 times."
    ]
    assert grouped(three[:2]) == three[:2]
    other = message("x.m", "Nothing.")
    assert grouped([other, *three, other])[0] == other


def test_numbers_have_one_form() -> None:
    assert [coefficient(x) for x in (0.614, -0.05, 1.0, -0.001)] == [".61", "−.05", "1.00", ".00"]
    # The largest seed, as a form states it.
    assert message("x.l", "{high}", high=float(2**31 - 1)).text == "2,147,483,647"
    assert [p_value(x) for x in (0.034, 0.0051, 0.0004)] == ["p = .03", "p = .005", "p < .001"]
