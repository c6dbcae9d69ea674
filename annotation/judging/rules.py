"""Check rules of gold and practice items other than their range of scores, as in Pearmut.

`errors` is a list of [first start, last start, first end, last end, severity]
in code points, ends excluded, severity empty for any: each must be met
by a marked error of the output. `above` is the position on the same screen of the item whose score
must be lower.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from django.db.models import QuerySet

from annotation.models import ErrorSpan, Judgment
from annotation.models.judgment import VALUE
from annotation.protocols.base import TARGET

ITEM = "assignment__item__"
Bounds = Sequence[Any]


def kept_rules(judgments: QuerySet[Judgment]) -> dict[int, bool]:
    """Return whether judgments keep the rules of their items, for items with rules.

    One query if no item has rules, else three.
    """
    columns = ("pk", "assignment__annotator", f"{ITEM}campaign", f"{ITEM}screen", f"{ITEM}rules")
    rows = list(judgments.filter(**{f"{ITEM}rules__isnull": False}).values_list(*columns, VALUE))
    if not rows:
        return {}
    spans: dict[int, list[tuple[int, int, str]]] = {}
    marked = ErrorSpan.objects.filter(judgment__in=[row[0] for row in rows], side=TARGET)
    for judgment, start, end, severity in marked.values_list(
        "judgment_id", "start", "end", "severity"
    ):
        spans.setdefault(judgment, []).append((start, end, severity))
    beside = _values(*({row[n] for row in rows} for n in (1, 2, 3)))
    return {
        pk: _has_all(rules.get("errors", ()), spans.get(pk, ()))
        and _is_above(value, beside.get((who, screen, rules.get("above"))))
        for pk, who, _, screen, rules, value in rows
    }


def _values(
    people: set[int], campaigns: set[int], screens: set[int | None]
) -> Mapping[tuple[int, int, int], float]:
    """Return the current values of answers on some screens, by annotator, screen and position."""
    # The campaigns are known by the annotators; they have a database begin with the screens.
    rows = Judgment.objects.filter(
        is_current=True,
        assignment__annotator__in=people,
        **{f"{ITEM}campaign__in": campaigns, f"{ITEM}screen__in": screens - {None}},
    )
    columns = ("assignment__annotator", f"{ITEM}screen", f"{ITEM}place", VALUE)
    return {(who, screen, place): value for who, screen, place, value in rows.values_list(*columns)}


def _has_all(rules: Sequence[Bounds], spans: Sequence[tuple[int, int, str]]) -> bool:
    return all(
        any(
            first <= start <= last and low <= end <= high and severity in ("", own)
            for start, end, own in spans
        )
        for first, last, low, high, severity in rules
    )


def _is_above(value: float | None, other: float | None) -> bool:
    """Return whether a value is higher than another; True if one of them is missing."""
    return value is None or other is None or value > other
