"""Sentences about numbers in groups: what is said of many annotators or metrics is said once."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from django import template

register = template.Library()

# Of whom a sentence speaks, and what it says; what is said of many, of {n} of them.
SAID = (
    (
        re.compile(r"^(?P<name>.+) has usable scores of \d+ items with others: r is undefined\.$"),
        "{n} annotators have usable scores of fewer than two items with others: "
        "their r is undefined.",
    ),
    (
        re.compile(r"^Annotator (?P<name>.+) has no judgment in the pool: no z-scores\.$"),
        "{n} annotators have no judgment in the pool: no z-scores.",
    ),
    (
        re.compile(r"^Annotator (?P<name>.+) has a single judgment in the pool: no z-scores\.$"),
        "{n} annotators have a single judgment in the pool: no z-scores.",
    ),
    (
        re.compile(
            r"^Annotator (?P<name>.+) gave the same score \d+ times: z-scores are undefined\.$"
        ),
        "{n} annotators gave every output the same score: their z-scores are undefined.",
    ),
)
# `chrF: constant input`, `ter: 12 judged outputs have no score yet`.
NAMED = re.compile(r"^(?P<name>[^:.]{1,80}): (?P<rest>.+)$")
# Fewer alike stand one by one; so many names are told.
ALIKE, NAMES = 3, 5


@dataclass
class Remark:
    """One sentence, and of whom it is said where it is said of several."""

    text: str
    names: list[str] = field(default_factory=list)


@register.filter
def grouped(sentences: Iterable[str]) -> list[Remark]:
    """Put sentences that differ in a name and in numbers together, in the order of the first."""
    found: dict[str, list[tuple[str, str]]] = {}
    for sentence in dict.fromkeys(sentences):
        key, name = _read(sentence)
        found.setdefault(key, []).append((name, sentence))
    return [remark for key, same in found.items() for remark in _told(key, same)]


@register.filter
def unstopped(sentence: str) -> str:
    """A sentence in any language, after which names follow."""
    return sentence.rstrip(".。")


def _read(sentence: str) -> tuple[str, str]:
    """What a sentence says, without its name and numbers, and the name."""
    for pattern, said in SAID:
        if match := pattern.match(sentence):
            return said, match["name"]
    if match := NAMED.match(sentence):
        return re.sub(r"\d[\d,.]*", "#", match["rest"]), match["name"]
    return sentence, ""


def _told(key: str, same: list[tuple[str, str]]) -> list[Remark]:
    if len(same) < ALIKE:
        return [Remark(sentence) for _, sentence in same]
    names = [name for name, _ in same[:NAMES]]
    names += [f"{len(same) - NAMES} more"] if len(same) > NAMES else []
    if key in {said for _, said in SAID}:
        return [Remark(key.format(n=f"{len(same):,}"), names)]
    match = NAMED.match(same[0][1])
    rest = match["rest"] if match else same[0][1]
    return [Remark(f"{len(same):,} times, such as {rest}", names)]
