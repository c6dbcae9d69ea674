"""Which judgments an output rests on, and in which form: always in the address, never in a session.

A page's filters apply to every number on it.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from typing import Any, Self
from urllib.parse import urlencode

from annotation.models import Campaign
from annotation.quality.scales import HTER

Z, RAW = "z", "raw"
# What the campaign's protocol says: z-scores, but penalties as they are.
USUAL = ""
IN, OUT = "in", "out"
# Every segment as a document of its own, although the test set has documents.
SEGMENTS = "segments"
LISTS = ("without", "documents", "systems", "without_systems")
# Characters of a refusal.
MOST_SAID = 500
NUMBERS = ("min_seconds", "max_seconds")


class FilterError(ValueError):
    """An address asks for something that filters do not know; the message says what.

    It repeats what was asked, which may be as long as an address.
    """

    def __str__(self) -> str:
        said = super().__str__()
        return said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}…"


@dataclass(frozen=True)
class Filters:
    """What a reader chose; the defaults are everything, in the form that suits the protocol.

    `scores` is z or raw; left open, it is what `of` says of a campaign. `scale` names one of a
    campaign's own scales, or HTER; left open, it is the first. Whatever is left out
    counts as never given: z-scores too are those of the rest. `without` names annotators by their
    public names or ids; `traps` says whether traps, bad references,
    references and gold items stay among the judgments; `documents` are the only ones to look at
    (none named: all), and so are `systems`, while `without_systems` are left out. `humans` says
    whether metrics are compared on human translations too, `outliers` whether on systems that are
    far from the others. `since` and `until` are ISO days in UTC, both included; `min_seconds` and
    `max_seconds` bound the server's time of an item. A judgment without times is left out as soon
    as one of these four is set. `unit` says over what intervals and tests are: `segments`, or, left
    open, documents wherever the test set has them.
    """

    scores: str = USUAL
    scale: str = ""
    without: tuple[str, ...] = ()
    traps: str = IN
    documents: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    min_seconds: float | None = None
    max_seconds: float | None = None
    systems: tuple[str, ...] = ()
    without_systems: tuple[str, ...] = ()
    humans: str = OUT
    outliers: str = IN
    unit: str = ""

    def __post_init__(self) -> None:
        _one_of("scores", self.scores or Z, Z, RAW)
        _one_of("unit", self.unit or SEGMENTS, SEGMENTS)
        for name in ("traps", "humans", "outliers"):
            _one_of(name, getattr(self, name), IN, OUT)
        for name in LISTS:
            # One address for one choice, whatever the order of the boxes.
            object.__setattr__(self, name, tuple(sorted(set(getattr(self, name)) - {""})))
        for name in ("since", "until"):
            object.__setattr__(self, name, _day(name, getattr(self, name)))
        for name in NUMBERS:
            object.__setattr__(self, name, _seconds(name, getattr(self, name)))
        if self.since and self.until and self.since > self.until:
            raise FilterError(f"since ({self.since}) must not be after until ({self.until})")
        low, high = self.min_seconds, self.max_seconds
        if low is not None and high is not None and low > high:
            raise FilterError(f"min_seconds ({low:g}) must not be above max_seconds ({high:g})")

    @property
    def needs_days(self) -> bool:
        """Whether a judgment whose end is not known cannot be told to belong here."""
        return bool(self.since or self.until)

    @property
    def needs_seconds(self) -> bool:
        """Whether a judgment whose start or end is not known cannot be told to belong here."""
        return self.min_seconds is not None or self.max_seconds is not None

    @property
    def chooses_judgments(self) -> bool:
        """Whether single judgments are left out, which published scores know nothing of."""
        return self.needs_days or self.needs_seconds or bool(self.without) or self.traps == OUT

    @property
    def words(self) -> list[str]:
        """What differs from the default, for a reader."""
        said = {
            "z-scores": self.scores == Z,
            "raw scores": self.scores == RAW,
            f"the scale {self.scale}": bool(self.scale),
            f"without {', '.join(self.without)}": bool(self.without),
            "control items out": self.traps == OUT,
            f"documents {', '.join(self.documents)}": bool(self.documents),
            f"from {self.since}": bool(self.since),
            f"to {self.until}": bool(self.until),
            f"at least {self.min_seconds or 0:g} s": self.min_seconds is not None,
            f"at most {self.max_seconds or 0:g} s": self.max_seconds is not None,
            f"systems {', '.join(self.systems)}": bool(self.systems),
            f"without systems {', '.join(self.without_systems)}": bool(self.without_systems),
            "human translations in": self.humans == IN,
            "outlier systems out": self.outliers == OUT,
            "intervals over segments": self.unit == SEGMENTS,
        }
        return [words for words, is_said in said.items() if is_said]

    def of(self, campaign: Campaign) -> Self:
        """Return the same with the form of the scores settled for a campaign."""
        usual = Z if campaign.judging.is_standardised and self.scale != HTER else RAW
        return self if self.scores else replace(self, scores=usual)

    @classmethod
    def from_query(cls, query: Mapping[str, Any]) -> Self:
        """Read an address's query; parameters that are no filters are others' business.

        A name that may occur several times is read in full from a `QueryDict`. Raises FilterError.
        """
        given = {field.name: _given(query, field.name) for field in fields(cls)}
        return cls(**{name: value for name, value in given.items() if value})

    def as_json(self) -> dict[str, Any]:
        """Return plain values, the same for the same choice."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value or name not in ("scale", "unit")
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """The inverse of `as_json`."""
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in stored.items()
        }
        return cls(**given)

    @property
    def leaves_something_out(self) -> bool:
        """Whether they leave any judgment out, whatever the form of the scores."""
        return bool(self.documents or self.chooses_systems) or self.chooses_judgments

    @property
    def chooses_systems(self) -> bool:
        """Whether some systems are named as those to look at, or to leave out."""
        return bool(self.systems or self.without_systems)

    def file_name(self, name: str) -> str:
        """Return the name of a file that says whether something was chosen for it."""
        return f"{name}-filtered" if self.words else name

    def query(self, **others: str) -> str:
        """Return what makes an address show the same, without defaults; empty or `?…`."""
        default = asdict(type(self)())
        chosen = {
            key: f"{value:g}" if isinstance(value, float) else value
            for key, value in asdict(self).items()
            if value != default[key]
        } | others
        return f"?{urlencode(chosen, doseq=True)}" if chosen else ""


def _given(query: Mapping[str, Any], name: str) -> Any:
    if name not in LISTS:
        return query.get(name)
    found = query.getlist(name) if hasattr(query, "getlist") else query.get(name, ())
    return (found,) if isinstance(found, str) else tuple(found)


def _one_of(name: str, value: str, *known: str) -> None:
    if value not in known:
        raise FilterError(f"{name} must be {' or '.join(known)}, not {value!r}")


def _day(name: str, value: str) -> str:
    if not value:
        return ""
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError as error:
        raise FilterError(f"{name} must be a day such as 2026-03-31, not {value!r}") from error


def _seconds(name: str, value: str | float | None) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise FilterError(f"{name} must be a number of seconds from 0, not {str(value)!r}")
    return number


EVERYTHING = Filters()
