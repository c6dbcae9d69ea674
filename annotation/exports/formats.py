"""Every format of an export: label, description, file name, and the stream that makes it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.exports import appraise, mqm, mtme, pearmut
from annotation.exports.facts import FACTS
from annotation.exports.judgments import (
    header_of,
    json_lines,
    judgment_dicts,
    judgment_rows,
)
from annotation.exports.parquet import parquet_bytes
from annotation.exports.spans import span_dicts, span_header, span_rows
from annotation.exports.suggestions import SUGGESTION_HEADER, suggestion_rows
from annotation.exports.tables import csv_lines, zip_bytes
from annotation.filters import EVERYTHING, Filters
from annotation.models import Campaign
from annotation.protocols import Protocol


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
        """Return the name of the file, which shows whether filters excluded something."""
        return f"{filters.file_name(campaign.slug)}-{self.suffix}"

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


def _with_readme(
    bundle: Callable[[Campaign, Filters], Iterator[tuple[str, Iterable[str]]]],
    campaign: Campaign,
    filters: Filters,
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the files of an archive, with a README first if filters excluded judgments."""
    if filters.words:
        words = "; ".join(map(str, filters.words))
        yield "README.txt", [README.format(name=campaign.name, words=words)]
    yield from bundle(campaign, filters)


README = "{name}: these filters chose judgments: {words}. The others were excluded.\n"
# What the tables of judgments carry, and what the formats of other tools have a place for.
TABLE = frozenset(FACTS) - {"texts", "suggestions", "published", "unrated"}
SPANS = frozenset(
    ("errors", "categories", "severities", "source-errors", "tokens", "revisions", "controls")
)
SCORES = frozenset(("scores", "errors", "categories", "revisions", "times", "documents"))
APPRAISE = SCORES | {"texts", "controls", "batches", "unrated"}
PEARMUT = frozenset(("texts", "scales", "notes", "tokens", "categories", "gold", "unrated"))
PEARMUT_LOG = frozenset(
    (
        *("scores", "scales", "post-edits", "errors", "categories", "tokens", "comments"),
        *("times", "gold"),
    )
)
MTME = frozenset(("texts", "scores", "errors", "categories", "published"))
CSV, ZIP = "text/csv; charset=utf-8", "application/zip"
LINES = "application/x-ndjson"
FORMATS = {
    "csv": Format(
        "CSV",
        _("One row per judgment, including earlier revisions; error spans are JSON in one column."),
        "judgments.csv",
        CSV,
        TABLE,
        lambda campaign, filters: csv_lines(header_of(campaign), judgment_rows(campaign, filters)),
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
    "appraise": Format(
        _("Appraise scores"),
        _("Appraise’s columns in its order, without a header, as Appraise exports them."),
        "appraise.csv",
        CSV,
        SCORES,
        appraise.score_lines,
        appraise.loses,
    ),
    "appraise-header": Format(
        _("Appraise scores with header"),
        _("The same with the names of the columns."),
        "appraise-header.csv",
        CSV,
        SCORES,
        lambda campaign, filters: appraise.score_lines(campaign, filters, header=True),
        appraise.loses,
    ),
    "appraise-zip": Format(
        _("Appraise campaign"),
        _("Batches, manifest and scores, for Appraise and for the import page."),
        "appraise.zip",
        ZIP,
        APPRAISE,
        lambda campaign, filters: zip_bytes(_with_readme(appraise.bundle, campaign, filters)),
        appraise.loses,
    ),
    "pearmut": Format(
        _("Pearmut campaign"),
        _("The imported file, or one written from the items: systems, tokens, notes."),
        "pearmut.json",
        "application/json",
        PEARMUT,
        pearmut.campaign_json,
        pearmut.loses,
    ),
    "pearmut-log": Format(
        _("Pearmut answers"),
        _("One line per screen with the current answers, as Pearmut logs them."),
        "pearmut.jsonl",
        LINES,
        PEARMUT_LOG,
        pearmut.log_lines,
        pearmut.loses,
    ),
    "mqm-tsv": Format(
        "MQM, TSV",
        _("One row per error, marked by <v>…</v> in its text, as Google publishes MQM."),
        "mqm.tsv",
        "text/tab-separated-values; charset=utf-8",
        frozenset(("texts", "errors", "categories", "source-errors")),
        mqm.mqm_lines,
    ),
    "mtme": Format(
        "mt-metrics-eval",
        _("Sources, references, outputs, documents, human scores and ratings in the V2 layout."),
        "mt-metrics-eval.zip",
        ZIP,
        MTME,
        lambda campaign, filters: zip_bytes(_with_readme(mtme.bundle, campaign, filters)),
        mtme.loses,
    ),
}
