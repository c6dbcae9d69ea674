"""Words and clauses in orders that no fluent writer would choose, each rule under one name.

``clauses`` follows the ReFreeEval paper (section 3.2): the clauses between punctuation change
places; a sentence of one clause is cut somewhere and its two parts change places. ``released`` is
the rule of its published code (`released.py`). ``shuffle`` and ``repeat`` are the paper's
alternatives (table 10): int(0.5 t) of t words change places among themselves, as an unused function
of the release does, and int(0.4 t) stand twice. ``reorder`` is XMoverScore's random order of all
words. Words are what :func:`tokens` says.
"""

import itertools
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

# Clauses and tokens of a sentence, in any language: pure functions on strings.

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


# What results and manifests name. Edition 1 had other edges: see `docs/reference-free.md`.
EDITION = 2
# Up to this many clauses all orders are listed; above, they are drawn.
FEW_CLAUSES = 6
SHUFFLE_RATE, REPEAT_RATE = 0.5, 0.4
# Of two equally likely outcomes the other one is missed with chance 2⁻⁵⁰.
TRIES = 50
Change = Callable[[list[str], random.Random], list[str]]
Rule = Callable[[str, str, int, random.Random], list[str]]  # text, language, k, rng -> texts


@dataclass(frozen=True)
class Negatives:
    """k degraded texts of one sentence, and how many of them repeat another."""

    texts: tuple[str, ...]
    n_repeated: int


def negatives(text: str, language: str, k: int, rule: str, rng: random.Random) -> Negatives | None:
    """Return k degraded texts, distinct where that many exist; None where there is none at all.

    None of them equals the text. Raises KeyError for an unknown rule.
    """
    found = [each for each in RULES[rule](text, language, k, rng) if each != text.strip()]
    if not found:
        return None
    n_repeated = max(0, k - len(set(found))) if len(found) < k else k - len(set(found[:k]))
    filled = itertools.chain(found, itertools.cycle(found))
    return Negatives(tuple(itertools.islice(filled, k)), n_repeated)


def alter(text: str, language: str, rule: str, rng: random.Random) -> str | None:
    """Return one degraded text; None where there is none. Raises as :func:`negatives`."""
    found = negatives(text, language, 1, rule, rng)
    return found.texts[0] if found else None


def by_clauses(text: str, language: str, k: int, rng: random.Random) -> list[str]:
    """Yield orders of the clauses, then rotations of the words, each text once."""
    sentence = split(text, language)
    chosen = _orders(sentence, k, rng)
    if len(chosen) < k:
        rotated = _rotations(sentence, language)
        rng.shuffle(rotated)
        chosen = list(dict.fromkeys([*chosen, *rotated]))[:k]
    return chosen


def _orders(sentence: Sentence, k: int, rng: random.Random) -> list[str]:
    n = len(sentence.clauses)
    original = sentence.joined(sentence.clauses)
    if n <= FEW_CLAUSES:
        orders = {sentence.joined(order) for order in itertools.permutations(sentence.clauses)}
        listed = sorted(orders - {original})
        return rng.sample(listed, min(k, len(listed)))
    drawn: dict[str, None] = {}
    for _ in range(k * TRIES):
        order = sentence.joined(tuple(rng.sample(sentence.clauses, n)))
        if order != original:
            drawn[order] = None
        if len(drawn) == k:
            break
    return list(drawn)


def _rotations(sentence: Sentence, language: str) -> list[str]:
    """Yield each rotation of the words: two parts change places, the final stop stays."""
    body = sentence.joined(sentence.clauses).removesuffix(sentence.stop)
    units, glue = tokens(body, language)
    turned = (glue.join(units[cut:] + units[:cut]) for cut in range(1, len(units)))
    original = glue.join(units)
    return [each + sentence.stop for each in dict.fromkeys(turned) if each != original]


def by_words(change: Change) -> Rule:
    """Return the rule that draws from what a change of the words gives."""

    def rule(text: str, language: str, k: int, rng: random.Random) -> list[str]:
        units, glue = tokens(text, language)
        original, found = glue.join(units), dict[str, None]()
        for _ in range(k * TRIES):
            changed = glue.join(change(units, rng))
            if changed != original:
                found[changed] = None
            if len(found) == k:
                break
        return list(found)

    return rule


def _reordered(units: list[str], rng: random.Random) -> list[str]:
    return rng.sample(units, len(units))


def _shuffled(units: list[str], rng: random.Random) -> list[str]:
    places = rng.sample(range(len(units)), int(SHUFFLE_RATE * len(units)))
    order, moved = rng.sample(places, len(places)), list(units)
    for place, source in zip(places, order, strict=True):
        moved[place] = units[source]
    return moved


def _repeated(units: list[str], rng: random.Random) -> list[str]:
    twice = set(rng.sample(range(len(units)), int(REPEAT_RATE * len(units))))
    return [unit for place, unit in enumerate(units) for _ in range(2 if place in twice else 1)]


def by_release(text: str, language: str, k: int, rng: random.Random) -> list[str]:
    """Draw as ReFreeEval's published code does, not as its paper says (`docs/refreeeval.md`).

    One independent draw per text; languages play no part. Text of one token gives none (the code
    repeated the line before it).
    """
    drawn = [_released(text, rng) for _ in range(k)]
    return [each for each in drawn if each is not None]


def _released(text: str, rng: random.Random) -> str | None:
    if text.count(",") < 2:
        return _rotation(text, rng)
    if "，" in text:
        plain = text.strip().replace("。 」", " 」")
        parts = _cut(plain, "。：", "，")
        return None if parts is None else "，".join(_another_order(parts, rng)) + "。"
    stop = next((mark for mark in ("。", ".") if f" {mark}" in text), "")
    parts = _cut(text, ".:。：", ",")
    if parts is None:
        return None
    return ("," if stop else ", ").join(_another_order(parts, rng)) + stop


def _rotation(text: str, rng: random.Random) -> str | None:
    stop = next((mark for mark in (" 。", " .") if mark in text), "")
    units = (text.replace(stop, "") if stop else text).split(" ")
    if len(units) == 1:
        return None
    cut = rng.randint(1, len(units) - 1)
    return " ".join(units[cut:] + units[:cut]) + stop


def _cut(text: str, marks: str, comma: str) -> list[str] | None:
    """Cut at a comma and what counts as one; None where no other order exists."""
    parts = text.translate({ord(mark): comma for mark in marks}).split(comma)
    parts = parts if parts[-1] else parts[:-1]
    return parts if len(set(parts)) > 1 else None


def _another_order(parts: list[str], rng: random.Random) -> list[str]:
    """Shuffle until the order differs."""
    order = list(parts)
    while order == parts:
        rng.shuffle(order)
    return order


RULES: dict[str, Rule] = {
    "clauses": by_clauses,
    "released": by_release,
    "shuffle": by_words(_shuffled),
    "repeat": by_words(_repeated),
    "reorder": by_words(_reordered),
}


# Put texts into the order of their source: move words by an alignment, or translate each word.
#
# Functions return None if nothing changes. Positions in files count words as :func:`split` does:
# separated by spaces, or characters in scripts without spaces (``spaced`` False).


Alignment = Sequence[tuple[int, int]]


class LinkError(ValueError):
    """A link to a position that a text of `n_words` words does not have."""

    def __init__(self, source: int, target: int, n_words: int) -> None:
        super().__init__(f"{source}-{target}")
        self.n_words = n_words


_WORD_OR_MARK = re.compile(r"\w+(?:['’\-]\w+)*|[^\w\s]")


@dataclass(frozen=True)
class Dictionary:
    """Translations of words, the first of each; ``longest`` is the length of the longest word."""

    entries: Mapping[str, str]
    longest: int

    def find(self, word: str) -> str | None:
        """Return the translation of a word as written, else in lower case."""
        return self.entries.get(word, self.entries.get(word.lower()))


def source_order(text: str, alignment: Alignment, *, spaced: bool = True) -> str | None:
    """Put words in the order of the source words that they are aligned with.

    ``alignment`` has (source, target) positions from 0, over the words of ``text``. A word is
    sorted by the mean position of its source words; an unaligned one stays after the word before.
    Raises LinkError for a link to a position that the text does not have.
    """
    words = split_words(text, spaced=spaced)
    places: list[list[int]] = [[] for _ in words]
    for source, target in alignment:
        if not 0 <= target < len(words):
            raise LinkError(source, target, len(words))
        places[target].append(source)
    keys, last = [], -1.0
    for aligned in places:
        last = sum(aligned) / len(aligned) if aligned else last
        keys.append(last)
    ordered = [words[index] for index in sorted(range(len(words)), key=keys.__getitem__)]
    return None if ordered == words else (" " if spaced else "").join(ordered)


def word_by_word(
    source: str, dictionary: Dictionary, *, spaced: bool = True, target_spaced: bool = True
) -> tuple[str | None, float]:
    """Translate each word by its first translation, in source order and without context.

    Returns the text, None where no word is known, and the share of words that are. Unknown words
    stay as they are. Where the source has no blanks, the longest known word is taken at each place.
    """
    words = _WORD_OR_MARK.findall(source) if spaced else _longest_matches(source, dictionary)
    known = [dictionary.find(word) for word in words]
    n_words = sum(any(map(str.isalnum, word)) for word in words)
    n_known = sum(translation is not None for translation in known)
    if not n_known:
        return None, 0.0
    parts = [word if found is None else found for word, found in zip(words, known, strict=True)]
    text = (" " if target_spaced else "").join(parts)
    return re.sub(r" (?=[^\w\s])", "", text), min(1.0, n_known / max(n_words, 1))


def split_words(text: str, *, spaced: bool = True) -> list[str]:
    """Return the words of a text: what blanks part, or its characters."""
    return text.split() if spaced else [character for character in text if not character.isspace()]


def _longest_matches(text: str, dictionary: Dictionary) -> list[str]:
    words, start = [], 0
    while start < len(text):
        reach = range(min(dictionary.longest, len(text) - start), 0, -1)
        sizes = (size for size in reach if dictionary.find(text[start : start + size]) is not None)
        size = next(sizes, 1)
        words.append(text[start : start + size])
        start += size
    return [word for word in words if not word.isspace()]
