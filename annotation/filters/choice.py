"""The chosen judgments and the form of their scores, in the address and never in a session.

A page's filters apply to every number on it.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from datetime import date
from typing import Any, Self
from urllib.parse import urlencode

from annotation.models import Campaign
from annotation.quality.columns import HTER
from metaeval.messages import Message, MessageError, message, truncated

Z, RAW = "z", "raw"
# The protocol's default: z-scores, or raw scores if they are penalties.
USUAL = ""
IN, OUT = "in", "out"
# Every segment as a document of its own, although the test set has documents.
SEGMENTS = "segments"
LISTS = ("without", "documents", "domains", "systems", "without_systems")
# How many characters of a parameter, and how many names, an error repeats.
LONGEST, MOST_NAMED = 100, 30
NUMBERS = ("min_seconds", "max_seconds")


class FilterError(MessageError, ValueError):
    """An address asks for something that is not available; the message is a whole sentence.

    Texts of the address within the message are shortened to `LONGEST` characters.
    """

    def __init__(self, found: Message) -> None:
        texts = {n: quoted(t) for n, t in found.parameters.items() if isinstance(t, str)}
        super().__init__(replace(found, parameters={**found.parameters, **texts}, text=""))


def quoted(text: object) -> str:
    """Return a parameter of an address as an error repeats it: at most `LONGEST` characters."""
    value = str(text)
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"


def listed(names: Iterable[object]) -> list[str | Message]:
    """Return some names as an error repeats them."""
    return truncated([quoted(name) for name in names], MOST_NAMED)


Z_SCORES = message("filter.z-scores", "z-scores")
RAW_SCORES = message("filter.raw-scores", "raw scores")
WITHOUT_CONTROLS = message("filter.without-controls", "without control items")
WITH_HUMANS = message("filter.with-humans", "with human translations")
WITHOUT_OUTLIERS = message("filter.without-outliers", "without outlier systems")
OVER_SEGMENTS = message("filter.over-segments", "intervals over segments")


@dataclass(frozen=True)
class Filters:
    """What a reader chose; the defaults select all judgments with the protocol's usual scores.

    Judgments that are filtered out do not enter any number: z-scores are computed from the rest.

    Attributes
    ----------
    scores
        `z` or `raw`; empty means the campaign's default (`of`).
    scale
        One of the campaign's own scales, or HTER; empty means the first scale.
    without
        Annotators to exclude, by public name or id.
    traps
        `in` keeps traps, bad references, references and gold items; `out` drops them.
    documents, domains, systems
        The only ones to use; empty means all.
    without_systems
        Systems to exclude.
    humans
        Whether metrics are compared on human translations as well.
    outliers
        Whether metrics are compared on systems whose scores are far from the others'.
    since, until
        ISO days in UTC, both included.
    min_seconds, max_seconds
        Bounds of the server's time per item. If one of these or of the days is set, judgments
        without times are dropped.
    unit
        The unit of intervals and tests: `segments`; empty means documents if the test set has them.
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
    domains: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        _one_of("scores", self.scores or Z, Z, RAW)
        _one_of("unit", self.unit or SEGMENTS, SEGMENTS)
        for name in ("traps", "humans", "outliers"):
            _one_of(name, getattr(self, name), IN, OUT)
        for name in LISTS:
            # The same choice always has the same address.
            object.__setattr__(self, name, tuple(sorted(set(getattr(self, name)) - {""})))
        for name in ("since", "until"):
            object.__setattr__(self, name, _day(name, getattr(self, name)))
        for name in NUMBERS:
            object.__setattr__(self, name, _seconds(name, getattr(self, name)))
        if self.since and self.until and self.since > self.until:
            raise FilterError(
                message(
                    "filter.since-after-until",
                    "since ({since}) must not be after until ({until}).",
                    since=self.since,
                    until=self.until,
                )
            )
        low, high = self.min_seconds, self.max_seconds
        if low is not None and high is not None and low > high:
            raise FilterError(
                message(
                    "filter.min-above-max",
                    "min_seconds ({low}) must not be greater than max_seconds ({high}).",
                    low=low,
                    high=high,
                )
            )

    @property
    def needs_days(self) -> bool:
        """Whether a judgment must have an end time to be selected."""
        return bool(self.since or self.until)

    @property
    def needs_seconds(self) -> bool:
        """Whether a judgment must have start and end times to be selected."""
        return self.min_seconds is not None or self.max_seconds is not None

    @property
    def chooses_judgments(self) -> bool:
        """Whether single judgments are filtered, which published scores do not have."""
        return self.needs_days or self.needs_seconds or bool(self.without) or self.traps == OUT

    @property
    def words(self) -> list[Message]:
        """What differs from the defaults, each choice as a phrase."""
        low, high = self.min_seconds, self.max_seconds
        phrases = (
            (self.scores == Z, Z_SCORES),
            (self.scores == RAW, RAW_SCORES),
            (self.scale, message("filter.scale", "scale: {scale}", scale=self.scale)),
            (
                self.without,
                message("filter.without", "without annotators: {names}", names=self.without),
            ),
            (self.traps == OUT, WITHOUT_CONTROLS),
            (
                self.documents,
                message("filter.documents", "only documents: {names}", names=self.documents),
            ),
            (self.domains, message("filter.domains", "only domains: {names}", names=self.domains)),
            (self.since, message("filter.since", "from {day}", day=self.since)),
            (self.until, message("filter.until", "until {day}", day=self.until)),
            (
                low is not None,
                message("filter.min-seconds", "at least {seconds} s per item", seconds=low or 0),
            ),
            (
                high is not None,
                message("filter.max-seconds", "at most {seconds} s per item", seconds=high or 0),
            ),
            (self.systems, message("filter.systems", "only systems: {names}", names=self.systems)),
            (
                self.without_systems,
                message(
                    "filter.without-systems", "without systems: {names}", names=self.without_systems
                ),
            ),
            (self.humans == IN, WITH_HUMANS),
            (self.outliers == OUT, WITHOUT_OUTLIERS),
            (self.unit == SEGMENTS, OVER_SEGMENTS),
        )
        return [phrase for is_chosen, phrase in phrases if is_chosen]

    def of(self, campaign: Campaign) -> Self:
        """Return these filters with the campaign's default form of scores filled in."""
        usual = Z if campaign.judging.is_standardised and self.scale != HTER else RAW
        return self if self.scores else replace(self, scores=usual)

    @classmethod
    def from_query(cls, query: Mapping[str, Any]) -> Self:
        """Read the filters of an address's query and ignore other parameters.

        All values of a repeated name are read from a `QueryDict`. Raises FilterError.
        """
        given = {field.name: _given(query, field.name) for field in fields(cls)}
        return cls(**{name: value for name, value in given.items() if value})

    def as_json(self) -> dict[str, Any]:
        """Return plain values; the same choice gives the same values."""
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in asdict(self).items()
            if value or name not in ("scale", "unit", "domains")
        }

    @classmethod
    def from_json(cls, stored: Mapping[str, Any]) -> Self:
        """Return the filters that `as_json` wrote."""
        given: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in stored.items()
        }
        return cls(**given)

    @property
    def drops_judgments(self) -> bool:
        """Whether any judgment may be filtered out."""
        chosen = self.chooses_segments or self.chooses_systems
        return chosen or self.chooses_judgments

    @property
    def chooses_segments(self) -> bool:
        """Whether segments are chosen, by document or domain."""
        return bool(self.documents or self.domains)

    @property
    def chooses_systems(self) -> bool:
        """Whether systems are chosen or excluded by name."""
        return bool(self.systems or self.without_systems)

    def file_name(self, name: str) -> str:
        """Return a file's name, marked as filtered if any filter is set."""
        return f"{name}-filtered" if self.words else name

    def query(self, **others: str) -> str:
        """Return the query of an address with the same choice, without defaults; empty or `?…`."""
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
        raise FilterError(
            message(
                "filter.not-one-of",
                "{name} must be one of these values: {known}. It is “{value}”.",
                name=name,
                known=known,
                value=quoted(value),
            )
        )


def _day(name: str, value: str) -> str:
    if not value:
        return ""
    try:
        return date.fromisoformat(value).isoformat()
    except ValueError as error:
        raise FilterError(
            message(
                "filter.not-a-day",
                "{name} must be a day such as 2026-03-31. It is “{value}”.",
                name=name,
                value=quoted(value),
            )
        ) from error


def _seconds(name: str, value: str | float | None) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not math.isfinite(number) or number < 0:
        raise FilterError(
            message(
                "filter.not-seconds",
                "{name} must be a number of seconds, 0 or more. It is “{value}”.",
                name=name,
                value=quoted(value),
            )
        )
    return number


EVERYTHING = Filters()
