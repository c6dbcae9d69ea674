"""Clauses and tokens of a sentence, in any language: pure functions on strings."""

import re
from dataclasses import dataclass
from functools import cache

_COMMA = ",;:"
_CJK = "，；：、"
_ARABIC = "،؛"
_SPACED = (
    "bg ca cs da de el en es et fi fr ga hr hu id is it lt lv mk mt nl no pl pt ro ru sk sl sq sr "
    "sv tr uk vi"
)
# Clause marks by language. ASCII marks count only before white space: 3,5 and 10:30 stay whole.
MARKS = (
    dict.fromkeys(_SPACED.split(), _COMMA)
    | dict.fromkeys(("zh", "yue", "ja"), _CJK + _COMMA)
    | dict.fromkeys(("ar", "fa", "ur"), _ARABIC + _COMMA)
)
ALL_MARKS = _COMMA + _CJK + _ARABIC
UNSPACED = {"zh", "yue", "ja", "th", "lo", "km", "my"}
_FINAL = re.compile(r"\s*[.!?。！？…؟۔।]+[\"'”’»」』）)\]]*\s*$")
# Latin words and numbers stay whole in text without blanks.
_UNIT = re.compile(r"[A-Za-z0-9]+|\S")
# A text whose blanks are this rare is not segmented into words.
CHARACTERS_PER_BLANK = 6


@dataclass(frozen=True)
class Sentence:
    """A sentence cut at its clause marks: ``clauses`` and, after each but the last, a mark with
    its blanks; ``stop`` is the final punctuation. Joined again they are the text."""

    clauses: tuple[str, ...]
    marks: tuple[str, ...]
    stop: str

    def joined(self, clauses: tuple[str, ...]) -> str:
        """Return the sentence with other clauses between the same marks."""
        pairs = zip(clauses, (*self.marks, self.stop), strict=True)
        return "".join(clause + mark for clause, mark in pairs)


def has_rules(language: str) -> bool:
    """Return whether clause marks of a language are known; others are cut at the marks of all."""
    return _base(language) in MARKS


def split(text: str, language: str) -> Sentence:
    """Cut a sentence at its clause marks; leading blanks are dropped."""
    text = text.lstrip()
    found = _FINAL.search(text)
    body, stop = (text[: found.start()], found.group()) if found else (text.rstrip(), "")
    parts = _pattern(MARKS.get(_base(language), ALL_MARKS)).split(body)
    clauses, marks = list(parts[::2]), list(parts[1::2])
    # An empty clause (a leading mark, two marks in a row) belongs to its neighbour's mark.
    kept_clauses, kept_marks = [clauses[0]], list[str]()
    for mark, clause in zip(marks, clauses[1:], strict=True):
        if clause and kept_clauses[-1]:
            kept_clauses.append(clause)
            kept_marks.append(mark)
        else:
            kept_clauses[-1] += mark + clause
    return Sentence(tuple(kept_clauses), tuple(kept_marks), stop)


def tokens(text: str, language: str) -> tuple[list[str], str]:
    """Return the tokens of a text and what joins them.

    Blanks separate tokens; in languages without blanks, where the text has hardly any, every
    character is one, and Latin words and numbers are.
    """
    words = text.split()
    is_unspaced = _base(language) in UNSPACED
    if is_unspaced and len(words) * CHARACTERS_PER_BLANK < len(text) + CHARACTERS_PER_BLANK:
        return _UNIT.findall(text), ""
    return words, " "


def _base(language: str) -> str:
    return language.lower().replace("_", "-").split("-")[0]


@cache
def _pattern(marks: str) -> re.Pattern[str]:
    ascii_marks = "".join(mark for mark in marks if mark.isascii())
    other = "".join(mark for mark in marks if not mark.isascii())
    options = [rf"\s*[{re.escape(ascii_marks)}]+\s+"] if ascii_marks else []
    options += [rf"\s*[{re.escape(other)}]+\s*"] if other else []
    return re.compile(f"({'|'.join(options)})")
