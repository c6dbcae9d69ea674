"""Choices of a page besides the filters of all pages, as its address holds them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Self

from annotation.filters import FilterError, Filters
from annotation.filters.chosen import fitted
from annotation.models import Campaign
from core.text import whole as whole_number
from metaeval.messages import message


def general(filters: Filters) -> Filters:
    """Return the filters of all pages, without the choices of one."""
    return Filters(**{each.name: getattr(filters, each.name) for each in fields(Filters)})


def decimal(name: str, text: str) -> float | None:
    """Return a parameter as a number, None where it is empty; raise FilterError for other text."""
    try:
        value = float(text) if text else None
    except ValueError:
        value = math.nan
    if value is not None and not math.isfinite(value):
        raise FilterError(
            message(
                "filter.number",
                "{name} must be a number, not “{value}”.",
                name=name,
                value=text,
            )
        )
    return value


@dataclass(frozen=True)
class Choice(Filters):
    """Filters and a page's own fields, which subclasses add as text, empty without a choice.

    An analysis module names its subclass as `FILTERS`.
    """

    @classmethod
    def own(cls) -> list[str]:
        """Names of the page's own fields."""
        shared = {field.name for field in fields(Filters)}
        return [field.name for field in fields(cls) if field.name not in shared]

    @classmethod
    def from_query(cls, query: Mapping[str, str]) -> Self:
        """Read an address's query. Raises FilterError."""
        own: dict[str, Any] = {
            name: query[name].strip() for name in cls.own() if query.get(name, "").strip()
        }
        return cls(**vars(Filters.from_query(query)), **own)

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """The inverse of `as_json`."""
        names = cls.own()
        shared = {name: value for name, value in stored.items() if name not in names}
        own = {name: stored[name] for name in names if name in stored}
        return cls(**vars(Filters.from_json(shared)), **own)

    def shared(self) -> Filters:
        """The filters of all pages alone."""
        return general(self)

    def as_json(self) -> dict[str, Any]:
        """Return plain values, the same for the same choice."""
        return self.shared().as_json() | {name: getattr(self, name) for name in self.own()}

    def query(self, **others: str) -> str:
        """Return the query of an address for these choices, without defaults; empty or `?…`."""
        default = type(self)()
        chosen = {name: getattr(self, name) for name in self.own()}
        own = {n: v for n, v in chosen.items() if v != getattr(default, n)}
        return self.shared().query(**own, **others)

    def one_of(self, name: str, *allowed: str) -> None:
        """Raise FilterError unless a field has one of these values."""
        if getattr(self, name) not in allowed:
            raise FilterError(
                message(
                    "filter.choice",
                    "{name} must be one of {choices}, not “{value}”.",
                    name=name,
                    choices=allowed,
                    value=getattr(self, name),
                )
            )

    def decimal(self, name: str) -> float | None:
        """Return a field as a number, None where it is empty; raise FilterError for other text."""
        return decimal(name, getattr(self, name))

    def whole(self, name: str) -> int | None:
        """Return a field as a whole number ≥ 0, None where it is empty; raise FilterError."""
        text = getattr(self, name)
        value = whole_number(text)
        if text and value is None:
            raise FilterError(
                message(
                    "filter.whole-number",
                    "{name} must be a whole number, not “{value}”.",
                    name=name,
                    value=text,
                )
            )
        return value


@dataclass(frozen=True)
class PooledChoice(Choice):
    """The choice of a document of several campaigns, of which `others` are all but the first.

    They are primary keys. The page of a study names those that its reader may read.
    """

    others: str = ""

    def over(self, campaigns: Sequence[Campaign]) -> Self:
        """Return the question on campaigns; FilterError for filters that fit none of them."""
        for each in campaigns:
            fitted(each, campaigns, self.shared())
        return replace(self, others=",".join(str(each.pk) for each in campaigns[1:]))

    def as_json(self) -> dict[str, Any]:
        """Return plain values; without `others` where the page has not named them."""
        found = super().as_json()
        return found if self.others else {n: v for n, v in found.items() if n != "others"}


def others(campaign: Campaign, filters: Filters) -> list[Campaign]:
    """Return the campaigns that a pooled document uses besides the first, in the page's order."""
    if not isinstance(filters, PooledChoice) or not filters.others:
        return []
    keys = [int(key) for key in filters.others.split(",")]
    rows = Campaign.objects.select_related("test_set").in_bulk(keys)
    return [rows[key] for key in keys if key in rows]
