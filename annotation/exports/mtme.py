"""The layout of mt-metrics-eval (V2): texts, human scores and ratings of one test set.

`human-scores/LP.NAME.seg.score` and `.sys.score` have raw and z means, or minus the MQM penalty;
each scale of the campaign and HTER have their own names. For protocols with spans,
`LP.NAME.seg.rating` has the first rating of every output, `NAME-2` the second, and so on; if there
are several and annotators gave scores, `NAME-r1.seg.score`, `NAME-r2.seg.score` … have the scores
of each, so that every rating is read with its score. Special tokens are errors of the whole source.

Segments have the order of the test set, except that documents are contiguous, as the layout
requires. Line breaks inside texts become blanks, one for one, so that offsets stay valid. Names
have no blanks, and those of references no `.` or `-`, because the layout splits at them.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count

import numpy as np
from django.db.models import Q
from django.db.models.functions import Length

from annotation.exports.rows import CHUNK, counted, spans_of
from annotation.filters import EVERYTHING, FilterError, Filters
from annotation.filters.chosen import read_judgments, segments_of
from annotation.filters.systems import chosen_systems
from annotation.models import Campaign, Item, Output, Reference, Segment, System
from annotation.protocols import Protocol, Span
from annotation.protocols.base import SOURCE, TARGET
from annotation.quality.columns import HTER, Floats, JudgmentColumns, scales_of, standardise
from annotation.quality.current import NOTHING
from metaeval.arrays import group_means
from metaeval.messages import message

DOMAIN = "general"
NO_OUTPUT = "[No translation supplied]"
JUDGED = (Item.Kind.TARGET, Item.Kind.REPEAT)
BREAKS = str.maketrans("\n\r", "  ")
# In bytes, of a name that is a part of a file's name: file systems take 255.
LONGEST = 200
Files = Iterator[tuple[str, Iterable[str]]]
# The judgment, its annotator and score, and the lengths of output and source, by segment.
Ratings = dict[int, tuple[int, str, float | None, int, int]]
Means = Mapping[tuple[int, int], float]


def bundle(campaign: Campaign, filters: Filters = EVERYTHING) -> Files:
    """Yield the files of the test set with the campaign's human scores.

    Filters choose the judgments behind these; texts are always all of them.
    """
    pair, top = campaign.test_set.direction, safe(campaign.test_set.slug)
    segments, systems = frame(campaign)
    yield from text_files(campaign, segments, systems)
    published = _published(campaign, filters)
    for name, means in ({} if published else scores(campaign, filters)).items():
        path = f"{top}/human-scores/{pair}.{name}"
        yield f"{path}.seg.score", segment_scores(segments, systems, means)
        yield f"{path}.sys.score", system_scores(segments, systems, means)
    if published:
        path = f"{top}/human-scores/{pair}.{published.name}"
        yield f"{path}.seg.score", segment_scores(segments, systems, published.outputs)
        yield f"{path}.sys.score", published.lines(segments, systems)
        yield from _part_files(campaign, filters, path, segments, systems)
    score = published.name if published else campaign.protocol
    path = f"{top}/human-scores/{pair}.{score}"
    yield from _ratings(campaign, filters, path, segments, systems)


def loses(protocol: Protocol) -> frozenset[str]:
    """Return what of a protocol has no place: scores without errors are means of an output's."""
    has_own = protocol.spans is not None and protocol.has_usual_score
    return frozenset() if has_own else frozenset({"scores"})


def frame(campaign: Campaign) -> tuple[list[Segment], dict[System, str]]:
    """Return the segments in the order of the files, and the systems with their names in them."""
    segments = ordered(campaign.test_set.segments.order_by("position"))
    names = list(_systems(campaign))
    return segments, dict(zip(names, unique_names(names), strict=True))


def text_files(
    campaign: Campaign, segments: Sequence[Segment], systems: Mapping[System, str]
) -> Files:
    """Yield the files of the test set: documents, sources, references, outputs."""
    pair, top = campaign.test_set.direction, safe(campaign.test_set.slug)
    yield f"{top}/documents/{pair}.docs", _documents(segments)
    yield f"{top}/sources/{pair}.txt", (line(segment.source) for segment in segments)
    names = _references(segments)
    for name, plain in zip(names, _distinct(map(reference_name, names)), strict=True):
        yield f"{top}/references/{pair}.{plain}.txt", _reference_lines(segments, name)
    for system, name in systems.items():
        yield f"{top}/system-outputs/{pair}/{name}.txt", _output_lines(segments, system)


@dataclass(frozen=True)
class _Published:
    """Published scores, which precede those from judgments, by primary keys."""

    name: str
    outputs: Means
    systems: Mapping[int, float]

    def lines(self, segments: Sequence[Segment], systems: Mapping[System, str]) -> Iterator[str]:
        """Yield the scores of systems, as published or as means over segments."""
        if not self.systems:
            yield from system_scores(segments, systems, self.outputs)
            return
        for system, name in systems.items():
            yield f"{name}\t{_number(self.systems.get(system.pk))}\n"


def _published(campaign: Campaign, filters: Filters) -> _Published | None:
    """Return published scores, named by the end of the campaign's address.

    In this layout higher is better, so scores that are better when lower are negated. Scores of
    systems are of all documents. Raises FilterError if filters choose judgments.
    """
    rows = campaign.published_scores.order_by("pk")
    if filters.chooses_judgments and rows.exists():
        text = message(
            "export.no-judgments",
            "These human scores were published without judgments. Filters can choose documents, "
            "but not judgments.",
        )
        raise FilterError(text)
    if filters.chooses_segments:
        rows = rows.filter(output__segment__in=segments_of(campaign, filters))
    if filters.chooses_systems:
        chosen = chosen_systems(campaign, filters)
        rows = rows.filter(Q(output__system__in=chosen) | Q(system__in=chosen))
    columns = ("output__system_id", "output__segment_id", "system_id", "value")
    outputs, wholes = {}, {}
    for system, segment, whole, published in rows.values_list(*columns):
        value = campaign.published_sign * published
        if whole is None:
            outputs[system, segment] = value
        else:
            wholes[whole] = value
    name = campaign.slug.removeprefix(campaign.test_set.slug).strip("-")
    return _Published(name or "published", outputs, wholes) if outputs or wholes else None


def _part_files(
    campaign: Campaign,
    filters: Filters,
    path: str,
    segments: Sequence[Segment],
    systems: Mapping[System, str],
) -> Files:
    """Yield published scores of documents and domains, unless filters choose some."""
    rows = () if filters.chooses_segments else campaign.published_parts.all()
    sign = campaign.published_sign
    parts = {(each.level, each.name, each.system_id): sign * each.value for each in rows}
    levels = {level for level, *_ in parts}
    if "document" in levels:
        names = dict.fromkeys(segment.document for segment in segments)
        cells = ((name, parts.get(("document", each, s.pk)))
                 for s, name in systems.items() for each in names)  # fmt: skip
        yield f"{path}.doc.score", (f"{name}\t{_number(value)}\n" for name, value in cells)
    if "domain" in levels:
        names = dict.fromkeys(segment.domain for segment in segments)
        lines = ((each, name, parts.get(("domain", each, s.pk)))
                 for each in names for s, name in systems.items())  # fmt: skip
        yield f"{path}.domain.score", (f"{d}\t{name}\t{_number(v)}\n" for d, name, v in lines)


def safe(name: str) -> str:
    """Return a name without blanks and slashes, for paths and lines."""
    return re.sub(r"[\s/\\]+", "_", name.strip()) or "_"


def in_path(name: str, longest: int = LONGEST) -> str:
    """Return such a name, shortened to `longest` bytes."""
    return safe(name).encode()[:longest].decode(errors="ignore")


def reference_name(name: str) -> str:
    """Return `refA` for `A`, without the characters that the layout splits at."""
    plain = unsplit(name)
    return plain if plain.startswith("ref") else f"ref{plain}"


def unsplit(name: str) -> str:
    """Return a name without the characters that the layout splits at."""
    return re.sub(r"[.\-\s/\\]+", "_", name)


def line(text: str) -> str:
    """Return a text as one line."""
    return text.translate(BREAKS).rstrip() + "\n"


def ordered(segments: Iterable[Segment]) -> list[Segment]:
    """Group segments by document, in the order of the documents' first segments."""
    documents: dict[str | int, list[Segment]] = {}
    for segment in segments:
        documents.setdefault(segment.document or segment.pk, []).append(segment)
    return [segment for own in documents.values() for segment in own]


def _systems(campaign: Campaign) -> Iterator[System]:
    yield from campaign.systems.order_by("name", "length_ratio")


def unique_names(systems: Sequence[System]) -> list[str]:
    """Return the systems' names in files; equal ones are numbered."""
    return _distinct(in_path(system.name) for system in systems)


def _distinct(names: Iterable[str]) -> list[str]:
    """Return names with numbers behind those that are there already, whoever gave them."""
    found: dict[str, None] = {}
    for name in names:
        others = (f"{name}_{number}" for number in count(2))
        found[next(each for each in chain([name], others) if each not in found)] = None
    return list(found)


def _documents(segments: Sequence[Segment]) -> Iterator[str]:
    """Yield a line per segment; one without a document is its own document, named by position."""
    for place, segment in enumerate(segments, start=1):
        yield f"{safe(segment.domain or DOMAIN)}\t{safe(segment.document or f'segment-{place}')}\n"


def _references(segments: Sequence[Segment]) -> list[str]:
    if not segments:
        return []
    rows = Reference.objects.filter(segment__test_set=segments[0].test_set_id)
    return sorted(set(rows.order_by().values_list("name", flat=True)))


def _reference_lines(segments: Sequence[Segment], name: str) -> Iterator[str]:
    rows = Reference.objects.filter(segment__test_set=segments[0].test_set_id, name=name)
    texts = dict(rows.values_list("segment_id", "text"))
    for segment in segments:
        yield line(texts.get(segment.pk, NO_OUTPUT))


def _output_lines(segments: Sequence[Segment], system: System) -> Iterator[str]:
    rows = Output.objects.filter(system=system)
    texts = dict(rows.values_list("segment_id", "text"))
    for segment in segments:
        yield line(texts.get(segment.pk, NO_OUTPUT))


def scores(campaign: Campaign, filters: Filters = EVERYTHING) -> dict[str, Means]:
    """Return mean scores by (system, segment): raw and z, or minus the penalty for spans alone.

    Each of a campaign's own scales is a score of its own, and so are minus the edits in percent.

    Means are over an output's current judgments and its repeats; z-scores are per annotator over
    the campaign's pool.
    """
    outputs = Output.objects.filter(system__test_set=campaign.test_set).order_by()
    system_of = dict(outputs.values_list("pk", "system_id"))
    found: dict[str, Means] = {}
    for scale in scales_of(campaign) or [""]:
        name = f"{campaign.protocol}-{unsplit(scale)}" if scale else campaign.protocol
        columns, _ = read_judgments(campaign, replace(filters, scale=scale))
        found[name] = _means(columns, columns.score, system_of)
        if campaign.judging.has_score and scale != HTER:
            z = standardise(columns, campaign.z_pool).z if len(columns) else columns.score
            found[f"{name}-z"] = _means(columns, z, system_of)
    return found


def _means(columns: JudgmentColumns, values: Floats, system_of: Mapping[int, int]) -> Means:
    wanted = columns.is_kind(*JUDGED) & (columns.output != NOTHING) & ~np.isnan(values)
    outputs, first, places = np.unique(
        columns.output[wanted], return_index=True, return_inverse=True
    )
    segments = columns.segment[wanted][first].tolist()
    keys = (
        (system_of[pk], segment) for pk, segment in zip(outputs.tolist(), segments, strict=True)
    )
    means = group_means(values[wanted], places, len(outputs))
    return dict(zip(keys, means.tolist(), strict=True))


def segment_scores(
    segments: Sequence[Segment], systems: Mapping[System, str], means: Means
) -> Iterator[str]:
    """Yield a line for every system and segment, with `None` for a missing score."""
    keys = [segment.pk for segment in segments]
    for system, name in systems.items():
        own = system.pk
        yield "".join([f"{name}\t{_number(means.get((own, key)))}\n" for key in keys])


def system_scores(
    segments: Sequence[Segment], systems: Mapping[System, str], means: Means
) -> Iterator[str]:
    """Yield a line for every system: the mean over its segments."""
    keys = [segment.pk for segment in segments]
    for system, name in systems.items():
        cells = ((system.pk, key) for key in keys)
        own = [means[cell] for cell in cells if cell in means]
        yield f"{name}\t{_number(sum(own) / len(own) if own else None)}\n"


def _number(value: float | None) -> str:
    """Write a score so that reading it returns the same number."""
    return "None" if value is None else repr(float(value))


def _ratings(
    campaign: Campaign,
    filters: Filters,
    path: str,
    segments: Sequence[Segment],
    systems: Mapping[System, str],
) -> Files:
    """Yield a file of the first ratings of all outputs, one of the second ratings, and so on.

    If there are several and annotators gave scores, each file has a file with its scores.
    """
    if campaign.judging.spans is None:
        return
    ranked = _ranked(campaign, filters)
    n_ratings = max((place for place, _ in ranked), default=-1) + 1
    for number in range(n_ratings):
        name = path if not number else f"{path}-{number + 1}"
        own = {system: ranked.get((number, system.pk), {}) for system in systems}
        if campaign.judging.has_score and n_ratings > 1:
            scores_of = {(s.pk, of): r[2] for s in systems for of, r in own[s].items()}
            given = {cell: score for cell, score in scores_of.items() if score is not None}
            yield f"{path}-r{number + 1}.seg.score", segment_scores(segments, systems, given)
        lines = (_rating_lines(campaign, segments, systems[s], own[s]) for s in systems)
        yield f"{name}.seg.rating", chain.from_iterable(lines)


def _ranked(campaign: Campaign, filters: Filters) -> Mapping[tuple[int, int], Ratings]:
    """Return ratings by (number, system); numbers follow the order of the annotators."""
    seen: Counter[tuple[int, int]] = Counter()
    ranked: dict[tuple[int, int], Ratings] = {}
    rows = (
        counted(campaign, filters)
        .filter(assignment__item__kind=Item.Kind.TARGET, assignment__item__output__isnull=False)
        .order_by("assignment__annotator_id", "assignment__position")
        .values_list(
            "pk",
            "assignment__item__output__system_id",
            "assignment__item__segment_id",
            "assignment__annotator__label",
            "score",
            Length("assignment__item__output__text"),
            Length("assignment__item__segment__source"),
        )
    )
    for judgment, system, segment, *rest in rows.iterator(CHUNK):
        place = seen[system, segment]
        ranked.setdefault((place, system), {})[segment] = judgment, *rest
        seen[system, segment] += 1
    return ranked


def _rating_lines(
    campaign: Campaign, segments: Sequence[Segment], name: str, ratings: Ratings
) -> Iterator[str]:
    """Yield the lines of a system, segment by segment, reading spans in portions."""
    for start in range(0, len(segments), CHUNK):
        portion = segments[start : start + CHUNK]
        rated = [ratings.get(segment.pk) for segment in portion]
        spans = spans_of([rating[0] for rating in rated if rating])
        for rating in rated:
            found = (placed(spans.get(rating[0], ()), *rating[3:]), rating[1]) if rating else None
            yield rating_line(campaign, name, found)


def placed(spans: Sequence[Span], output: int, source: int) -> list[Span]:
    """Return spans with special tokens moved to the whole source, as in MQM.

    `output` and `source` are the lengths of the texts in code points.
    """
    return [
        replace(span, side=SOURCE, start=0, end=source)
        if span.side == TARGET and span.start >= output
        else span
        for span in spans
    ]


def rating_line(campaign: Campaign, name: str, rating: tuple[Sequence[Span], str] | None) -> str:
    """Return the line of a rating: its errors, and who marked them."""
    if rating is None:
        return f"{name}\tNone\n"
    spans, annotator = rating
    scheme = campaign.judging.spans
    errors = [
        {
            "start": span.start,
            "end": span.end,
            "category": span.category or None,
            "severity": span.severity,
            "score": float(scheme.weight(span)) if scheme else None,
            "is_source_error": span.side == SOURCE,
        }
        for span in spans
    ]
    return f"{name}\t{json.dumps({'errors': errors})}\t{safe(annotator)}\n"
