"""Suggest the spans of a metric or a file to annotators of a campaign."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from annotation.judging.screens import span_sides
from annotation.models import Campaign, Output
from annotation.protocols import Span
from annotation.protocols.base import SOURCE, TARGET
from metaeval.messages import Message, plural
from metrics.error_spans import MISSING, FoundSpan
from metrics.models import MetricSignature
from metrics.spans.stored import read_rows, unpack

# A severity that a protocol lacks, as the next one that it has.
INSTEAD = {"critical": "major"}
NOWHERE = "[missing]"
OMISSION = "accuracy/omission"


@dataclass
class Fitted:
    """Spans by output in the form of a protocol.

    Spans that the protocol cannot show are counted: by the severity that it lacks, or, under the
    empty key, because they are in none of its texts.
    """

    spans: dict[int, tuple[Span, ...]] = field(default_factory=dict)
    n_skipped: Counter[str] = field(default_factory=Counter)

    @property
    def skipped(self) -> list[Message]:
        """The skipped spans, one message per reason."""
        return [_skipped(severity, n) for severity, n in self.n_skipped.items()]

    @property
    def n_spans(self) -> int:
        """All spans."""
        return sum(len(own) for own in self.spans.values())

    @property
    def n_clean(self) -> int:
        """Outputs without errors."""
        return sum(not own for own in self.spans.values())


def _skipped(severity: str, n: int) -> Message:
    if not severity:
        return plural(
            "suggestions.skipped-place",
            "Skipped {n} span where annotators cannot mark errors.",
            "Skipped {n} spans where annotators cannot mark errors.",
            n=n,
        )
    return plural(
        "suggestions.skipped-severity",
        "Skipped {n} span of the severity “{severity}”.",
        "Skipped {n} spans of the severity “{severity}”.",
        n=n,
        severity=severity,
    )


def suggestions_of(campaign: Campaign, signature: MetricSignature) -> Fitted:
    """Return the spans of a metric in the outputs of a campaign."""
    rows = read_rows(signature, list(campaign.systems.all()))
    return fit(campaign, {output: unpack(own) for output, own in rows.items()})


def fit(campaign: Campaign, found: Mapping[int, Sequence[FoundSpan]]) -> Fitted:
    """Convert spans of the campaign's outputs to its protocol.

    A critical error becomes major if the protocol has no critical ones; annotators choose the
    category if the protocol lacks it. An omission marks the token for omissions if there is one,
    otherwise its place in the source, or the whole source.
    """
    texts = Output.objects.filter(system__in=campaign.systems.all())
    fitted = Fitted()
    fitter = _Fitter(campaign, fitted.n_skipped)
    for pk, text, source in texts.values_list("pk", "text", "segment__source").iterator():
        if pk in found:
            own = [fitter.span(each, text, source) for each in found[pk]]
            fitted.spans[pk] = tuple(dict.fromkeys(span for span in own if span))
    return fitted


class _Fitter:
    def __init__(self, campaign: Campaign, n_skipped: Counter[str]) -> None:
        scheme = campaign.judging.spans
        if scheme is None:
            raise ValueError(f"{campaign.judging.name} takes no spans")
        self.scheme, self.sides, self.n_skipped = scheme, span_sides(campaign), n_skipped

    def span(self, found: FoundSpan, text: str, source: str) -> Span | None:
        """Return one span, or None, counted, if it has no place or severity here."""
        severity = found.severity
        if severity not in self.scheme.severity_keys:
            severity = INSTEAD.get(severity, "")
        if severity not in self.scheme.severity_keys:
            self.n_skipped[found.severity] += 1
            return None
        place = self._place(found, text, source)
        if place is None:
            self.n_skipped[""] += 1
            return None
        return Span(*place, severity, self._category(found))

    def _place(self, found: FoundSpan, text: str, source: str) -> tuple[str, int, int] | None:
        if found.side == TARGET and found.end <= len(text):
            return TARGET, found.start, found.end
        if found.side == MISSING and NOWHERE in self.scheme.tokens:
            place = len(text) + self.scheme.tokens.index(NOWHERE)
            return TARGET, place, place + 1
        if found.side == TARGET or SOURCE not in self.sides or not source:
            return None
        if not found.has_place:
            return SOURCE, 0, len(source)
        return (SOURCE, found.start, found.end) if found.end <= len(source) else None

    def _category(self, found: FoundSpan) -> str:
        known = self.scheme.category_keys
        if found.side == MISSING and OMISSION in known:
            return OMISSION
        return found.category if found.category in known else ""
