"""Every format of an export: what it is, its file name, and the stream that makes it."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from annotation.exports import appraise, mqm, mtme, pearmut
from annotation.exports.judgments import (
    header_of,
    json_lines,
    judgment_dicts,
    judgment_rows,
    span_dicts,
    span_header,
    span_rows,
)
from annotation.exports.parquet import parquet_bytes
from annotation.exports.suggestions import SUGGESTION_HEADER, suggestion_rows
from annotation.exports.tables import csv_lines, zip_bytes
from annotation.filters import EVERYTHING, Filters
from annotation.models import Campaign


@dataclass(frozen=True)
class Format:
    """A format; `suffix` follows the campaign's name in the file name."""

    label: str
    about: str
    suffix: str
    content_type: str
    stream: Callable[[Campaign, Filters], Iterator[bytes] | Iterator[str]]

    def file_name(self, campaign: Campaign, filters: Filters = EVERYTHING) -> str:
        """Return the name of the file, which says whether something was left out."""
        return f"{filters.file_name(campaign.slug)}-{self.suffix}"

    def pieces(self, campaign: Campaign, filters: Filters = EVERYTHING) -> Iterator[bytes]:
        """Yield the file piece by piece. Raises FilterError for what the campaign lacks."""
        for piece in self.stream(campaign, filters):
            yield piece.encode() if isinstance(piece, str) else piece


def _with_readme(
    bundle: Callable[[Campaign, Filters], Iterator[tuple[str, Iterable[str]]]],
    campaign: Campaign,
    filters: Filters,
) -> Iterator[tuple[str, Iterable[str]]]:
    """Yield the files of an archive, first one that says which judgments were left out, if any."""
    if filters.words:
        words = "; ".join(map(str, filters.words))
        yield "README.txt", [README.format(name=campaign.name, words=words)]
    yield from bundle(campaign, filters)


README = "{name}: judgments were chosen by these filters: {words}. The others are not here.\n"
CSV, ZIP = "text/csv; charset=utf-8", "application/zip"
LINES = "application/x-ndjson"
FORMATS = {
    "csv": Format(
        "CSV",
        "One row a judgment, earlier revisions included; error spans as JSON in one column.",
        "judgments.csv",
        CSV,
        lambda campaign, filters: csv_lines(header_of(campaign), judgment_rows(campaign, filters)),
    ),
    "jsonl": Format(
        "JSON Lines",
        "The same, one object a line, error spans nested.",
        "judgments.jsonl",
        LINES,
        lambda campaign, filters: json_lines(judgment_dicts(campaign, filters)),
    ),
    "parquet": Format(
        "Parquet",
        "The same with typed columns.",
        "judgments.parquet",
        "application/vnd.apache.parquet",
        parquet_bytes,
    ),
    "spans": Format(
        "Error spans, CSV",
        "One row an error span, with the text that it marks and its weight.",
        "spans.csv",
        CSV,
        lambda campaign, filters: csv_lines(span_header(campaign), span_rows(campaign, filters)),
    ),
    "spans-jsonl": Format(
        "Error spans, JSON Lines",
        "The same, one object a line.",
        "spans.jsonl",
        LINES,
        lambda campaign, filters: json_lines(span_dicts(campaign, filters)),
    ),
    "suggestions": Format(
        "Suggested errors, CSV",
        "One row a suggestion and a judgment: what became of it. Planted ones are no judgments.",
        "suggestions.csv",
        CSV,
        lambda campaign, filters: csv_lines(SUGGESTION_HEADER, suggestion_rows(campaign, filters)),
    ),
    "appraise": Format(
        "Appraise scores",
        "Appraise’s columns in its order, without a header, as Appraise exports them.",
        "appraise.csv",
        CSV,
        appraise.score_lines,
    ),
    "appraise-header": Format(
        "Appraise scores with header",
        "The same with the names of the columns.",
        "appraise-header.csv",
        CSV,
        lambda campaign, filters: appraise.score_lines(campaign, filters, header=True),
    ),
    "appraise-zip": Format(
        "Appraise campaign",
        "Batches, manifest and scores, which Appraise and the import page read.",
        "appraise.zip",
        ZIP,
        lambda campaign, filters: zip_bytes(_with_readme(appraise.bundle, campaign, filters)),
    ),
    "pearmut": Format(
        "Pearmut campaign",
        "The file it came in, or one written from its items: systems, tokens, notes.",
        "pearmut.json",
        "application/json",
        pearmut.campaign_json,
    ),
    "pearmut-log": Format(
        "Pearmut answers",
        "One line a screen with the current answers, as Pearmut logs them.",
        "pearmut.jsonl",
        LINES,
        pearmut.log_lines,
    ),
    "mqm-tsv": Format(
        "MQM, TSV",
        "One row an error, marked by <v>…</v> in its text, as Google publishes MQM.",
        "mqm.tsv",
        "text/tab-separated-values; charset=utf-8",
        mqm.mqm_lines,
    ),
    "mtme": Format(
        "mt-metrics-eval",
        "Sources, references, outputs, documents, human scores and ratings in the V2 layout.",
        "mt-metrics-eval.zip",
        ZIP,
        lambda campaign, filters: zip_bytes(_with_readme(mtme.bundle, campaign, filters)),
    ),
}
