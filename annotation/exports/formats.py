"""Formats of exports: label, description, file name, and the stream that makes it."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

from django.db.models import Count, F, Q, QuerySet
from django.db.models.functions import Length
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from annotation.campaigns.facts import n_removed, removed
from annotation.exports import mtme
from annotation.exports.judgments import (
    json_lines,
    judgment_dicts,
    judgment_lines,
    span_dicts,
    span_header,
    span_rows,
)
from annotation.exports.parquet import parquet_bytes
from annotation.exports.rows import judgments_of
from annotation.exports.suggestions import SUGGESTION_HEADER, suggestion_rows
from annotation.exports.tables import csv_lines, zip_bytes
from annotation.filters import EVERYTHING, Filters
from annotation.models import Campaign, ContextOpening, ErrorSpan, Item, Judgment, Playback
from annotation.protocols import Protocol
from annotation.protocols.base import SOURCE, TARGET
from core import extensions
from metaeval.messages import Message, message

# What a campaign has that a format of exports may have no place for. Every format declares in
# `annotation.exports.formats` which of these it carries.

CONTROLS = (Item.Kind.TRAP, Item.Kind.BAD_REF, Item.Kind.REPEAT, Item.Kind.REF)
GOLD = (Item.Kind.GOLD, Item.Kind.TUTORIAL)

FACTS: dict[str, Message] = {
    "texts": message("fact.texts", "texts of segments and outputs"),
    "settings": message("fact.settings", "question and settings of the campaign"),
    "ratio": message("fact.ratio", "length ratio"),
    "scores": message("fact.scores", "scores of each annotator"),
    "scales": message("fact.scales", "own scales"),
    "choices": message("fact.choices", "choices"),
    "post-edits": message("fact.post-edits", "post-edits"),
    "errors": message("fact.errors", "error spans"),
    "categories": message("fact.categories", "categories of errors"),
    "severities": message("fact.severities", "own severities and weights"),
    "source-errors": message("fact.source-errors", "errors in the source"),
    "tokens": message("fact.tokens", "errors at special tokens"),
    "comments": message("fact.comments", "comments"),
    "flags": message("fact.flags", "flags"),
    "revisions": message("fact.revisions", "earlier revisions"),
    "exclusions": message("fact.exclusions", "which annotators are excluded"),
    "simulated": message("fact.simulated", "which annotators are simulated"),
    "times": message("fact.times", "start and end times"),
    "clocks": message("fact.clocks", "visible, active and paid times"),
    "openings": message("fact.openings", "openings of the document"),
    "plays": message("fact.plays", "plays of recordings"),
    "screens": message("fact.screens", "what was shown together"),
    "batches": message("fact.batches", "batches"),
    "notes": message("fact.notes", "notes above segments"),
    "controls": message("fact.controls", "control items"),
    "gold": message("fact.gold", "gold and practice items"),
    "documents": message("fact.documents", "ratings of whole documents"),
    "domains": message("fact.domains", "domains of segments"),
    "unrated": message("fact.unrated", "items that nobody has rated"),
    "draws": message("fact.draws", "probabilities of drawn systems"),
    "sample": message("fact.sample", "which part of the test set is judged"),
    "conditions": message("fact.conditions", "conditions of suggestions"),
    "suggestions": message("fact.suggestions", "suggestions and what became of them"),
    "published": message("fact.published", "published scores"),
}
_OF_JUDGMENTS = {
    "scores": Q(score__isnull=False),
    "post-edits": Q(post_edit__isnull=False),
    "comments": ~Q(comment=""),
    "flags": Q(is_flagged=True),
    "revisions": Q(is_current=False),
    "times": Q(started_at__isnull=False) | Q(submitted_at__isnull=False),
    "clocks": Q(visible_ms__isnull=False) | Q(active_ms__isnull=False) | Q(paid_ms__isnull=False),
    "draws": Q(assignment__inclusion__isnull=False),
    "conditions": ~Q(assignment__condition=""),
}
_OF_ITEMS = {
    "screens": Q(screen__isnull=False) | Q(n_columns__gt=1),
    "batches": ~Q(batch=""),
    "notes": ~Q(note=""),
    "controls": Q(kind__in=CONTROLS),
    "gold": Q(kind__in=GOLD),
    "documents": Q(kind=Item.Kind.DOCUMENT),
}
_OF_ANNOTATORS = {
    "exclusions": Q(excluded_at__isnull=False),
    "simulated": Q(is_simulated=True),
}


def facts_of(campaign: Campaign, filters: Filters = EVERYTHING) -> list[str]:
    """Return what a campaign has, by the names of `FACTS`; filters choose its judgments.

    Raises FilterError for what the campaign does not have.
    """
    return counted_facts(campaign, filters)[0]


def counted_facts(campaign: Campaign, filters: Filters = EVERYTHING) -> tuple[list[str], int]:
    """Return what `facts_of` does, and how many judgments the filters choose, in one reading."""
    rows = judgments_of(campaign, filters).order_by()
    counts = _counts(rows, _OF_JUDGMENTS)
    has = {name for name in _OF_JUDGMENTS if counts[_alias(name)]}
    has |= _judged(rows, "assignment__item", campaign.items.all(), _OF_ITEMS)
    has |= _judged(rows, "assignment__annotator", campaign.annotators.all(), _OF_ANNOTATORS)
    has |= {"texts", "settings"} | _of_campaign(campaign) | _of_errors(campaign)
    return [name for name in FACTS if name in has], counts["n_all"]


def _counts(rows: QuerySet[Any], facts: Mapping[str, Q]) -> dict[str, int]:
    return rows.aggregate(
        n_all=Count("pk"), **{_alias(name): Count("pk", filter=q) for name, q in facts.items()}
    )


def _judged(
    rows: QuerySet[Judgment], path: str, related: QuerySet[Any], facts: Mapping[str, Q]
) -> set[str]:
    """Return the facts of items or annotators that have judgments among `rows`.

    Most campaigns have few of the facts: these are counted without the judgments.
    """
    counts = _counts(related.order_by(), facts)
    there = {name: q for name, q in facts.items() if counts[_alias(name)]}
    return {
        name
        for name, q in there.items()
        if rows.filter(**{f"{path}__in": related.order_by().filter(q)}).exists()
    }


def _alias(name: str) -> str:
    return name.replace("-", "_") + "_n"


def _of_campaign(campaign: Campaign) -> set[str]:
    protocol = campaign.judging
    openings = ContextOpening.objects.filter(assignment__annotator__campaign=campaign)
    # Compared as one set: item by item takes twice as long.
    rated = Judgment.objects.filter(assignment__annotator__campaign=campaign)
    plays = Playback.objects.filter(judgment__assignment__annotator__campaign=campaign)
    found = {
        "ratio": campaign.length_ratio != 1,
        "scales": any(scale.key for scale in protocol.scales),
        "choices": bool(protocol.choices),
        "severities": bool(protocol.spans and "spans" in (campaign.answers or {})),
        "openings": openings.exists(),
        "plays": plays.exists(),
        "suggestions": campaign.items.filter(suggestions__isnull=False).exists(),
        "sample": campaign.sample is not None,
        "published": campaign.has_published_scores,
        "domains": campaign.segments.exclude(domain="").exists(),
        "unrated": campaign.items.exclude(pk__in=rated.values("assignment__item")).exists(),
    }
    return {name for name, is_there in found.items() if is_there}


def _of_errors(campaign: Campaign) -> set[str]:
    scheme = campaign.judging.spans
    if scheme is None:
        return set()
    errors = ErrorSpan.objects.filter(judgment__assignment__annotator__campaign=campaign)
    tokens = errors.filter(side=TARGET).annotate(
        length=Length("judgment__assignment__item__output__text")
    )
    found = {
        "errors": errors.exists(),
        "categories": bool(scheme.categories) and errors.exclude(category="").exists(),
        "source-errors": errors.filter(side=SOURCE).exists(),
        "tokens": bool(scheme.tokens) and tokens.filter(start__gte=F("length")).exists(),
    }
    return {name for name, is_there in found.items() if is_there}


@dataclass(frozen=True)
class Format:
    """A format; `suffix` follows the campaign's name in the file name.

    `carries` are the names of the facts (`annotation.exports.formats`) that come out of the file as
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
