"""Sentences that Python wrote in English, in the language of the page that shows them.

Documents are computed by workers, statistics warn and files are refused where no reader's language
is known; JSON, CSV, LaTeX and the API keep that English. A page translates what it shows, with the
filter `said`: a sentence is looked up among the texts of `said.po`, whose placeholders stand for
what was filled in. What is filled in is translated in turn where it is such a text of two words or
more or in small letters; names and numbers stay as they are.
"""

import gettext
import operator
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from django.conf import settings
from django.utils.translation import get_language, to_locale

DOMAIN = "said"
PLACEHOLDER = re.compile(r"%\(([A-Za-z]\w*)\)s")
# What is filled in: anything in a sentence, a name or number between one or two words; `n` is
# a number, behind the name of a campaign where a study says it.
ANY, SHORT, NUMBER = (
    ".*?",
    r"(?:\[[^\]]{,24}\]|[^.,:;()\[]|[.,](?=\d)){0,60}?",
    r"(?:[^:]*: )?\d[\d,]*",
)
FEW_LETTERS = 11
# The p of a test, behind which its correction stands without a comma.
P = r"p [<≤] [\d.]+"
# What is filled in under these names is a list of names: only how it ends is said.
LISTS = frozenset({"names", "named", "listed", "labels"})
# How texts are strung together, the loosest first: the first two also where some are not known.
BETWEEN = (" · ", "\N{NO-BREAK SPACE}", "; ", ", ")
ENDS = re.compile(r"(?<=[.?!]) ")
# Chinese marks of punctuation hold their own blank.
FULL_WIDTH = re.compile(r"(?<=[，。；：、）]) +| +(?=[（，。；：、])")
BRACKETS = re.compile(r"(.+) \(([^()]+)\)")
WORD = re.compile(r"[^\W\d_]{2,}")
# Pieces of pieces of a sentence; deeper ones there are none.
DEPTH = 4


@dataclass(frozen=True)
class _Pattern:
    found: re.Pattern[str]
    weight: int
    told: str


class Sentences:
    """The sentences of one language: English to translation, with `%(name)s` for what varies."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        """Index the sentences that vary by the longest word that they always have."""
        self._fixed: dict[str, str] = {}
        self._varying: dict[str, list[_Pattern]] = defaultdict(list)
        for text, told in texts.items():
            if not PLACEHOLDER.search(text):
                self._fixed[text.replace("%%", "%")] = told.replace("%%", "%")
            elif words := WORD.findall(PLACEHOLDER.sub("\0", text)):
                self._varying[max(words, key=len)].append(_pattern(text, told))

    def tell(self, text: str, depth: int = DEPTH) -> str:
        """Return a text translated; as it is where there is no such text."""
        bare = text.strip()
        # Choices and labels begin small in the midst of a sentence.
        fixed = self._fixed.get(bare) or self._fixed.get(bare[:1].upper() + bare[1:])
        if fixed is not None:
            return text.replace(bare, fixed) if bare else text
        if depth and (told := self._filled(bare, depth)) is not None:
            return text.replace(bare, told)
        strung = (self._strung(text, by) for by in BETWEEN)
        return next(filter(None, strung), "") or self._bracketed(text) or self._named(text)

    def whole(self, text: str, depth: int = DEPTH) -> str:
        """A text of one or several sentences; a name may have a full stop within."""
        sentences = ENDS.split(text)
        if len(sentences) == 1 or text.strip() in self._fixed:
            return self.tell(text, depth)
        each = [self.tell(sentence, depth) for sentence in sentences]
        if all(map(operator.ne, sentences, each)):
            return " ".join(each)
        told = self.tell(text, depth)
        return told if told != text else " ".join(each)

    def _strung(self, text: str, by: str) -> str:
        """Several texts in one line, if each of them is known; before the first may be none."""
        pieces = text.split(by)
        told = [self.tell(piece) for piece in pieces] if len(pieces) > 1 else []
        places = range(not pieces[0], len(told))
        is_known = by in BETWEEN[:2] or all(pieces[at] != told[at] for at in places)
        return by.join(told) if told and is_known else ""

    def _bracketed(self, text: str) -> str:
        """What is explained in brackets, if both are known; a name keeps its brackets."""
        match = BRACKETS.fullmatch(text)
        pieces = match.groups() if match else ()
        before, inside = map(self.tell, pieces) if match else ("", "")
        is_known = match and all(map(operator.ne, pieces, (before, inside)))
        return f"{before} ({inside})" if is_known else ""

    def _named(self, text: str) -> str:
        """A sentence behind the name that it is about, which stays where it is not known."""
        name, colon, rest = text.partition(": ")
        told = self.tell(rest) if colon else rest
        return f"{self.tell(name)}: {told}" if told != rest else text

    def _filled(self, text: str, depth: int) -> str | None:
        """The most exact of all sentences that fit, with what was filled in."""
        near = (each for word in set(WORD.findall(text)) for each in self._varying.get(word, ()))
        for pattern in sorted(near, key=lambda each: -each.weight):
            if match := pattern.found.fullmatch(text):
                parts = match.groupdict(default="").items()
                return pattern.told % {name: self._part(name, part, depth) for name, part in parts}
        return None

    def _part(self, name: str, part: str, depth: int) -> str:
        is_name = len(part.split()) < 2 and not part.islower()
        if is_name:
            return part
        told = self.whole(part, depth - 1)
        return self._list(part, depth) if told == part and name in LISTS else told

    def _list(self, text: str, depth: int) -> str:
        before, link, last = text.rpartition(" and ")
        return f"{before}{self.tell(link)}{self.tell(last, depth - 1)}"


def _pattern(text: str, told: str) -> _Pattern:
    """What a sentence looks like; a name that comes again stands for the same."""
    literal = PLACEHOLDER.sub("", text)
    filled = ANY if len("".join(WORD.findall(literal))) >= FEW_LETTERS else SHORT
    expression, end, seen = "", 0, set[str]()
    for place in PLACEHOLDER.finditer(text):
        expression += re.escape(text[end : place.start()].replace("%%", "%"))
        name, end = place[1], place.end()
        expression += f"(?P={name})" if name in seen else f"(?P<{name}>{_of(name, filled)})"
        seen.add(name)
    expression += re.escape(text[end:].replace("%%", "%"))
    return _Pattern(re.compile(expression, re.DOTALL), len(literal), told)


def _of(name: str, filled: str) -> str:
    return ANY if name in LISTS else {"n": NUMBER, "p": P}.get(name, filled)


@lru_cache
def sentences(language: str) -> Sentences | None:
    """Return the sentences of a language; None where there are none, as in English."""
    for folder in settings.LOCALE_PATHS:
        try:
            found = gettext.translation(DOMAIN, folder, [to_locale(language)])
        except FileNotFoundError:
            continue
        texts: dict[str, str] = vars(found)["_catalog"]
        return Sentences({text: told for text, told in texts.items() if text})
    return None


@lru_cache(8192)
def _told(text: str, language: str) -> str:
    known = sentences(language)
    told = text if known is None else known.whole(text)
    return text if told == text else FULL_WIDTH.sub("", told)


def said(text: str) -> str:
    """Return an English text of Python in the language of the page (settings.READERS)."""
    language = get_language() or settings.LANGUAGE_CODE
    return text if language == settings.LANGUAGE_CODE else _told(text, language)
