"""Refuse words and names that plain English does without: `python -m tests.house.words [path …]`.

Prose is what people read: docstrings, comments, strings with a blank, text of templates, pages of
docs. Names are those of modules, classes, functions and parameters. Texts that signatures of judges
hold, and questions that stored campaigns ask, are not looked at.
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
# What is refused, and what to write instead.
PROSE = {
    r"\bmend(s|ed|ing)?\b": "fix, correct",
    r"\bhang(s|ing)? (on|together)\b|\bhung on\b": "depends on",
    r"\bsurer\b": "more certain",
    r"\b(told|tell|tells|telling) (\w+ )?(from|apart)\b": "distinguish",
    r"\bholds? (chance|zero|0|none)\b": "includes zero",
    r"\b(knows?|knew) nothing\b": "baseline: random scores, a constant, text length",
    r"(?<!human[ -])\bceilings?\b": "human ceiling",
    r"\b(to be|not be) had\b": "available",
    r"\blets? (go|in)\b(?! o[fn])": "exclude, stop, admit",
    r"\b(leav|left|leaves|leave)(e|ing)? out\b|\bleft out\b": "exclude, skip, omit",
    r"\bdoubt(s|ful|ed)?\b": "warning, question",
    r"\bremarks?\b": "note, warning",
    r"\braters?\b(?![\",_])": "annotator",
    r"[”\"'`)] (is|are) no (?!longer|more)\w": "is not a …",
    r"\bis no (whole|number|file|table|folder|score|valid|name|date)\b": "is not a …",
    r"\b(is|are|be|was) (not )?said\b|\bsaid of\b": "say who does what",
    r"\b(is|are|be|was|were) told\b|\btold of\b": "say who does what",
    r"\bstands? (in|at|beside|behind|on|under|for itself|alone)\b": "is",
    r"\bbears?( \w+){1,4} out\b": "support",
    r"\bby (itself|themselves)\b": "automatically, alone",
    r"\bnone of its own\b|\bas it is one\b": "rewrite",
    r"\b\d+ %(?!\()": "percent without a blank: 95%",
    r"\bp (<=|>=) ?[.0]": "p ≤ .05",
    r"\blooks? after\b": "manages",
    r"\bwhose doing\b|\bof old\b|\bhitherto\b|\bthereby\b|\bwhereof\b": "rewrite",
    r"\bmuch of a muchness\b|\bworth anything\b|\bought to\b": "rewrite",
    r"\bin hand\b|\bat hand\b": "current, available",
    r"\bwho read from who\b|\bwho did not\b": "rewrite",
    r"\bcome (into|in) (reach|being)\b": "rewrite",
    r"\bso many\b": "this number, at most n",
    r"\bso often that\b": "often enough that",
    r"\b[Oo]ne (?!in\b)\w+ an? (row|line|file|column|segment|output|system)\b(?! of)": "per row",
    r"\bline ends\b": "line endings",
}
_NAMES = """
deeds things lately kept Kept doubts onpoints taking told said turned settled levelled Desk Purse
Crew sparing keeping telling Held living patience work_off call_it seldom stand_in garbage remark
Remark remarks floor_marks told_of beside
"""
NAMES = frozenset(_NAMES.split())
OUT = re.compile(
    r"(^|/)(migrations|node_modules|vendor|locale)/|^docs/reference/|(words|test_messages|test_numbers)\.py$"
    r"|^extensions/judges/(prompts|options)\.py$|^metaeval/files/names\.py$"
)


class Fault(NamedTuple):
    """One place."""

    path: str
    line: int
    found: str
    instead: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: “{self.found}”: {self.instead}"


def faults(path: Path) -> Iterator[Fault]:
    """All refused words and names of a file."""
    name, text = path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        yield from _names(name, text)
    for line, prose in _prose(path.suffix, text):
        for pattern, instead in PROSE.items():
            for match in re.finditer(pattern, prose, re.IGNORECASE):
                at = line + prose.count("\n", 0, match.start())
                yield Fault(name, at, " ".join(match[0].split()), instead)


def _prose(suffix: str, text: str) -> Iterator[tuple[int, str]]:
    if suffix != ".py":
        # Tags of templates first: a comparison in one ends no tag of HTML.
        bare = re.sub(r"\{#.*?#\}|\{[{%].*?[%}]\}|`[^`]*`", _quoted, text)
        yield 1, re.sub(r"<code>[^<]*</code>|<[^>]*>", _quoted, bare)
        return
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        # Tables of tests have the columns of other people's files.
        is_text = token.type == tokenize.STRING and " " in token.string
        is_text = is_text and "\\t" not in token.string
        if is_text or token.type == tokenize.COMMENT:
            yield token.start[0], re.sub(r"`[^`]*`", "`", token.string)


def _quoted(match: re.Match[str]) -> str:
    """What is quoted in a tag of a template is text; markup and code are none."""
    quoted = re.findall(r'"([^"]* [^"]*)"', match[0]) if match[0].startswith("{%") else []
    return " | ".join(quoted) + "\n" * match[0].count("\n")


def _names(path: str, text: str) -> Iterator[Fault]:
    stem = Path(path).stem
    if stem in NAMES:
        yield Fault(path, 1, stem, "name of a module")
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                pass
            case _:
                continue
        if name.lstrip("_") in NAMES:
            yield Fault(path, node.lineno, name, "name what it is")


def files(paths: list[str]) -> Iterator[Path]:
    """The files to look at: all of the repository, or those below some paths."""
    listed = subprocess.run(
        ["git", "ls-files", *paths], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\n")
    for name in listed:
        if name.endswith((".py", ".html", ".md")) and not OUT.search(name):
            yield ROOT / name


def main() -> int:
    """Print all faults; 1 where there are any."""
    found = [fault for path in files(sys.argv[1:]) for fault in faults(path)]
    print(*found, sep="\n")
    print(f"{len(found)} words and names to replace", file=sys.stderr)
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
