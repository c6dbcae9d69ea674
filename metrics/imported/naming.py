"""Map every name of imported scores to a metric of the catalogue.

The direction of a metric never changes. If scores of one name are better when lower in one import
and when higher in another, they belong to two metrics of the catalogue with the same label.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import count
from typing import Any

from core.messages import as_json, invalid
from metaeval.messages import message
from metrics import registry
from metrics.base import IMPORTED, MetricInfo, one_measure
from metrics.models import ConfiguredMetric

LONGEST = 60
MARK = " (imported)"
DESCRIPTION = message(
    "scores.imported-metric",
    "These scores were computed elsewhere and imported. The metric cannot be run here.",
)


def label_of(name: str) -> str:
    """Return the label of an imported metric, which marks it in all tables, figures and files."""
    return f"{name}{MARK}"


def check_name(name: str) -> str:
    """Return a metric's name without outer blanks; ValidationError for an invalid name."""
    name = unicodedata.normalize("NFC", name).strip()
    if not name:
        raise invalid("scores.name-missing", "Enter a name for the metric.")
    if len(name) > LONGEST:
        raise invalid(
            "scores.name-too-long",
            "The name “{name}…” is too long: at most {longest} characters are allowed.",
            name=name[:20],
            longest=LONGEST,
        )
    if any(unicodedata.category(each) in ("Cc", "Cs", "Zl", "Zp") for each in name):
        raise invalid(
            "scores.name-with-control-character",
            "The name {name} contains a control character.",
            name=repr(name),
        )
    return name


def same(first: str, second: str) -> bool:
    """Return whether two names are those of one metric: case does not matter."""
    return _plain(first) == _plain(second)


def _plain(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold().strip()


class Known:
    """The imported metrics of the catalogue, read once per import."""

    def __init__(self) -> None:
        self.by_name: dict[str, list[ConfiguredMetric]] = {}
        self.taken = set(registry.METRICS)
        for row in ConfiguredMetric.objects.order_by("pk"):
            self.taken.add(row.name)
            if row.family == IMPORTED:
                self._keep(row)

    def _keep(self, row: ConfiguredMetric) -> None:
        self.by_name.setdefault(_plain(row.label.removesuffix(MARK)), []).append(row)

    def siblings(self, name: str) -> list[ConfiguredMetric]:
        """The metrics with this name, one for each direction that was imported."""
        return self.by_name.get(_plain(name), [])

    def find(self, name: str, *, higher_is_better: bool) -> ConfiguredMetric | None:
        """Return the metric of the catalogue; None before the first import."""
        for row in self.siblings(name):
            if row.info.higher_is_better == higher_is_better:
                return row
        return None

    def find_or_add(
        self, name: str, *, higher_is_better: bool, user: Any = None
    ) -> ConfiguredMetric:
        """Return the metric of the catalogue; add it if it is new."""
        row = self.find(name, higher_is_better=higher_is_better)
        if row is not None:
            return row
        slugs = _slugs(name, is_lower=not higher_is_better)
        info = _info(next(each for each in slugs if each not in self.taken), name, higher_is_better)
        row = ConfiguredMetric.objects.create(
            name=info.name,
            label=info.label,
            family=IMPORTED,
            description={**vars(info), "description": as_json(DESCRIPTION), "options": {}},
            created_by=user,
        )
        self.taken.add(row.name)
        self._keep(row)
        return row


def _info(slug: str, name: str, higher_is_better: bool) -> MetricInfo:
    return one_measure(
        slug,
        label_of(name),
        needs_source=False,
        needs_reference=False,
        higher_is_better=higher_is_better,
        description=DESCRIPTION,
        family=IMPORTED,
    )


def _slugs(name: str, *, is_lower: bool) -> Iterator[str]:
    """Yield names for the catalogue, the simplest first."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    slug = re.sub(r"[^a-z0-9+.]+", "-", letters).strip("-")[: LONGEST - 24] or "metric"
    base = f"{IMPORTED}-{slug}" + ("-lower" if is_lower else "")
    yield base
    for number in count(2):
        yield f"{base}-{number}"
