"""What Python says in English, in the language of the page; what is said of many is said once."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django import template
from django.template.defaultfilters import date
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from annotation.web import sentences
from core.messages import translated
from metaeval.messages import Message

register = template.Library()

MOMENT = re.compile(r"\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\b")


@register.filter(is_safe=True)
def said(value: Any) -> Any:
    """Translate a text, or each text of a list; nothing else is changed."""
    if isinstance(value, (list, tuple)):
        return [said(each) for each in value]
    if isinstance(value, Message):
        return sentences.said(value.text) if value.code == "text" else translated(value)
    if value is None or isinstance(value, (int, float)):
        return value
    told = sentences.said(str(value))
    # Markup that was safe is so with its words in another language: catalogues are ours.
    return mark_safe(told) if isinstance(value, SafeString) else told  # noqa: S308


@register.filter
def choice(widget: dict[str, Any]) -> Any:
    """The label of a choice in a form; that of a stored row is a name and stays as it is."""
    is_row = hasattr(widget["value"], "instance")
    return widget["label"] if is_row else said(widget["label"])


@register.filter(is_safe=True)
def dated(text: str) -> str:
    """A sentence that files have too, with its moments as pages write them."""
    return MOMENT.sub(_moment, text)


def _moment(match: re.Match[str]) -> str:
    return date(datetime.fromisoformat(match[0]), gettext("j M Y, H:i"))


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
# This many warnings that differ in one name are merged, with at most this many names.
ALIKE, NAMES = 3, 5


@dataclass
class Remark:
    """One sentence, and of whom it is said where it is said of several."""

    text: str
    names: list[str] = field(default_factory=list)


@register.filter
def remarks(sentences: Iterable[str]) -> list[Remark]:
    """Put sentences that differ in a name and in numbers together, in the order of the first."""
    found: dict[str, list[tuple[str, str]]] = {}
    for sentence in dict.fromkeys(map(str, sentences)):
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
