"""Formats of exports: label, description, file name, and the stream that makes it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.campaigns.facts import n_removed, removed
from annotation.exports import mtme
from annotation.exports.facts import FACTS
from annotation.exports.judgments import (
    json_lines,
    judgment_dicts,
    judgment_lines,
    span_dicts,
    span_header,
    span_rows,
)
from annotation.exports.parquet import parquet_bytes
from annotation.exports.suggestions import SUGGESTION_HEADER, suggestion_rows
from annotation.exports.tables import csv_lines, zip_bytes
from annotation.filters import EVERYTHING, Filters
from annotation.models import Campaign
from annotation.protocols import Protocol
from core import extensions


@dataclass(frozen=True)
class Format:
    """A format; `suffix` follows the campaign's name in the file name.

    `carries` are the names of the facts (`annotation.exports.facts`) that come out of the file as
    they went in, but for those that `loses` names of a protocol; page and command name the others
    that a campaign has.
    """

    label: str | Promise
    about: str | Promise
    suffix: str
    content_type: str
    carries: frozenset[str]
    stream: Callable[[Campaign, Filters], Iterator[bytes] | Iterator[str]]
    loses: Callable[[Protocol], frozenset[str]] = lambda protocol: frozenset()

    def without_place(self, campaign: Campaign, has: Iterable[str]) -> list[str]:
        """Return which of the facts that a campaign has do not come out of the file."""
        carried = self.carries - self.loses(campaign.judging)
        return [name for name in has if name not in carried]

    def file_name(self, campaign: Campaign, filters: Filters = EVERYTHING) -> str:
        """Return the name of the file.

        It shows whether filters excluded something, and how many judgments of erased persons were
        removed: tables have no place for that.
        """
        n = n_removed(campaign)
        removed = f"-{n}-removed" if n else ""
        return f"{filters.file_name(campaign.slug)}{removed}-{self.suffix}"

    def pieces(self, campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[bytes]:
        """Yield the file piece by piece. Raises FilterError for what the campaign lacks."""
        for piece in self.stream(campaign, filters):
            yield piece.encode() if isinstance(piece, str) else piece


SAMPLE_HEADER = ("segment", "document", "inclusion")


def sample_rows(campaign: Campaign) -> Iterator[tuple[str, str, float]]:
    """Yield the segments that a campaign covers, in order, with their inclusion probabilities."""
    drawn = dict(campaign.sampled_segments.values_list("segment", "inclusion"))
    rows = campaign.segments.order_by("position").values_list("pk", "key", "document")
    for pk, key, document in rows:
        yield key, document, drawn.get(pk, 1.0)


def with_readme(
    bundle: Callable[[Campaign, Filters], Iterator[tuple[str, Iterable[str]]]],
    campaign: Campaign,
    filters: Filters,
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the files of an archive, with a README first if judgments are missing in it."""
    notes = []
    if filters.words:
        words = "; ".join(map(str, filters.words))
        notes.append(README.format(name=campaign.name, words=words))
    if n := n_removed(campaign):
        notes.append(f"{campaign.name}: {removed(n)}.\n")
    if notes:
        yield "README.txt", notes
    yield from bundle(campaign, filters)


README = "{name}: these filters chose judgments: {words}. The others were excluded.\n"
# What the tables of judgments carry, and what mt-metrics-eval has a place for.
TABLE = frozenset(FACTS) - {"texts", "domains", "suggestions", "published", "unrated"}
SPANS = frozenset(
    ("errors", "categories", "severities", "source-errors", "tokens", "revisions", "controls")
)
MTME = frozenset(("texts", "domains", "scores", "errors", "categories", "published"))
CSV, ZIP = "text/csv; charset=utf-8", "application/zip"
LINES = "application/x-ndjson"
FORMATS = {
    "csv": Format(
        "CSV",
        _("One row per judgment, including earlier revisions; error spans are JSON in one column."),
        "judgments.csv",
        CSV,
        TABLE,
        judgment_lines,
    ),
    "jsonl": Format(
        "JSON Lines",
        _("The same with one object per line; error spans are nested."),
        "judgments.jsonl",
        LINES,
        TABLE,
        lambda campaign, filters: json_lines(judgment_dicts(campaign, filters)),
    ),
    "parquet": Format(
        "Parquet",
        _("The same with typed columns."),
        "judgments.parquet",
        "application/vnd.apache.parquet",
        TABLE,
        parquet_bytes,
    ),
    "spans": Format(
        _("Error spans, CSV"),
        _("One row per error span, with the marked text and its weight."),
        "spans.csv",
        CSV,
        SPANS,
        lambda campaign, filters: csv_lines(span_header(campaign), span_rows(campaign, filters)),
    ),
    "spans-jsonl": Format(
        _("Error spans, JSON Lines"),
        _("The same with one object per line."),
        "spans.jsonl",
        LINES,
        SPANS,
        lambda campaign, filters: json_lines(span_dicts(campaign, filters)),
    ),
    "suggestions": Format(
        _("Suggested errors, CSV"),
        _("One row per suggestion and judgment, with what the annotator did with the suggestion."),
        "suggestions.csv",
        CSV,
        frozenset(("suggestions", "conditions", "revisions")),
        lambda campaign, filters: csv_lines(SUGGESTION_HEADER, suggestion_rows(campaign, filters)),
    ),
    "sample": Format(
        _("Judged segments, CSV"),
        _("One row per segment that the campaign covers, with its probability of being drawn."),
        "sample.csv",
        CSV,
        frozenset({"sample"}),
        lambda campaign, _filters: csv_lines(SAMPLE_HEADER, sample_rows(campaign)),
    ),
    "mtme": Format(
        "mt-metrics-eval",
        _("Sources, references, outputs, documents, human scores and ratings in the V2 layout."),
        "mt-metrics-eval.zip",
        ZIP,
        MTME,
        lambda campaign, filters: zip_bytes(with_readme(mtme.bundle, campaign, filters)),
        mtme.loses,
    ),
}


def declared() -> dict[str, Format]:
    """Return all formats by name: the core's, then those of extensions."""
    others = (each.items() for each in extensions.imported("exports"))
    return dict(chain(FORMATS.items(), *others))
