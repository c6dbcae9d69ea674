"""Write the data files of a bundle, as (path, lines)."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np

from annotation.exports import mtme
from annotation.models import Item, Output
from dashboards.bundle.content import Content
from dashboards.panel.human import Floats
from dashboards.panel.measures import unit_of
from dashboards.spans.found import Gold
from dashboards.systems.outside import output_lengths
from metaeval.files.text import plain_number, plain_numbers
from metaeval.replication.bounds import Ratings
from metaeval.spans.span_table import SEVERITIES, SIDES

Files = Iterator[tuple[str, Iterable[str]]]
# Bytes of the names of a metric and of its references, of which a file's name is made.
HALF = mtme.LONGEST // 2
# Judgments that are written at a time: the cells of all would take more memory than the rest.
ROWS = 50_000
SPAN_COLUMNS = ("start", "end", "severity", "side")
_CLEAN = (("", "", "", "no-error", "", None),)
# The first of these that is set: a control item belongs to the system that it is compared with.
SYSTEM_OF = ("system_id", "partner__output__system_id", "partner__system_id")
JUDGMENT_COLUMNS = (
    "annotator", "kind", "system", "segment", "score", "is_target", "seconds", "submitted_at",
    "item", "partner", "output",
)  # fmt: skip


def data_files(content: Content) -> Files:
    """Yield every data file."""
    yield "annotators.tsv", _annotators(content)
    yield "judgments.tsv", _judgments(content)
    yield "segments.tsv", _segments(content)
    yield "scores.tsv", _scores(content)
    yield "metrics.tsv", _metrics(content)
    if content.floors:
        yield "floors.tsv", _floors(content)
    if content.ratings is not None:
        yield "ratings.tsv", _ratings(content, content.ratings)
    for key in content.counted:
        yield f"counts/{key}.tsv", _counts(content, key)
    if content.panel.human.published_systems is not None:
        yield "human-systems.tsv", _human_systems(content)
    if content.given:
        yield "metric-systems.tsv", _metric_systems(content)
    if content.detectors:
        yield "spans.tsv", _spans(content)
    if content.marks is not None:
        yield "human-spans.tsv", _human_spans(content, content.marks)
    yield "lengths.tsv", _lengths(content)
    yield from _evalset(content)


def _line(*cells: Any) -> str:
    """Join cells to one line; characters that would end a cell become blanks."""
    return "\t".join(["" if cell is None else _clean(str(cell)) for cell in cells]) + "\n"


def _clean(text: str) -> str:
    return text if text.isalnum() else text.translate(_BLANKS)


_BLANKS = str.maketrans("\t\n\r", "   ")


def _annotators(content: Content) -> Iterator[str]:
    """Write the public names of annotators, in the order in which they were added."""
    yield _line("annotator", "is_excluded", "is_simulated")
    people = content.campaign.annotators.order_by("pk")
    for label, excluded, simulated in people.values_list("label", "excluded_at", "is_simulated"):
        yield _line(label, int(excluded is not None), int(simulated))


def _judgments(content: Content) -> Iterator[str]:
    """Write current judgments without practice, in each annotator's own order."""
    columns, campaign = content.judgments, content.campaign
    labels = {pk: _clean(label) for pk, label in campaign.annotators.values_list("pk", "label")}
    systems = _systems_of(content)
    number = dict(zip((s.pk for s in content.segments), content.numbers, strict=True))
    documents = {pk: _clean(name) for pk, name in _documents_of(content).items()}
    yield _line(*JUDGMENT_COLUMNS, *(["document"] if documents else []))
    for start in range(0, len(columns), ROWS):
        part = columns.select(slice(start, start + ROWS))
        outputs, segments = part.output.tolist(), part.segment.tolist()
        pairs = zip(part.item.tolist(), outputs, strict=True)
        cells = [
            [labels[annotator] for annotator in part.annotator.tolist()],
            part.kind.tolist(),
            [systems.get(-item if output < 0 else output, "") for item, output in pairs],
            [number[segment] for segment in segments],
            plain_numbers(part.score),
            ["1" if is_target else "0" for is_target in part.is_target.tolist()],
            plain_numbers(part.seconds),
            map(_stamp, part.submitted.tolist()),
            map(str, part.item.tolist()),
            ["" if partner < 0 else str(partner) for partner in part.partner.tolist()],
            ["" if output < 0 else str(output) for output in outputs],
        ]
        if documents:
            cells.append([documents.get(segment, "") for segment in segments])
        for line in map("\t".join, zip(*cells, strict=True)):
            yield f"{line}\n"


def _documents_of(content: Content) -> dict[int, str]:
    """Return the documents of segments that share one, where documents are the unit."""
    if content.documents is None:
        return {}
    named = list(zip(content.segments, content.documents, strict=True))
    sizes = Counter(content.documents)
    return {segment.pk: name for segment, name in named if sizes[name] > 1}


def _stamp(time: float) -> str:
    return "" if math.isnan(time) else datetime.fromtimestamp(time, UTC).isoformat()


def _systems_of(content: Content) -> dict[int, str]:
    """Return the system of every output, and of every item without one by minus its key."""
    names = {pk: _clean(name) for pk, name in content.every_name.items()}
    outputs = Output.objects.filter(system__in=names).order_by()
    found = {pk: names[system] for pk, system in outputs.values_list("pk", "system_id")}
    rows = Item.objects.filter(campaign=content.campaign, output=None).order_by()
    for pk, *systems in rows.values_list("pk", *SYSTEM_OF):
        found[-pk] = names.get(next(filter(None, systems), 0), "")
    return found


def _segments(content: Content) -> Iterator[str]:
    has_domains = any(segment.domain for segment in content.segments)
    columns = ("segment", "key", "document", "line", "source", "references")
    yield _line(*columns, *(["domain"] if has_domains else []))
    places = zip(content.numbers, content.segments, content.lines, strict=True)
    for number, segment, line in places:
        references = " ||| ".join(content.references[segment.pk].values())
        document = segment.document
        domain = [segment.domain] if has_domains else []
        yield _line(number, segment.key, document, line, segment.source, references, *domain)


def _grid(
    content: Content,
    header: Sequence[str],
    planes: Sequence[Floats],
    documents: Sequence[str] | None = None,
) -> Iterator[str]:
    """Write arrays, (systems, segments) each, in the order of the test set."""
    yield _line("system", "segment", *(["document"] if documents else []), *header)
    segments = content.numbers
    if documents:
        segments = [f"{a}\t{_clean(b)}" for a, b in zip(segments, documents, strict=True)]
    for row, system in enumerate(content.names):
        cells = zip(segments, *(plain_numbers(plane[row]) for plane in planes), strict=True)
        start = f"{_clean(system)}\t"
        yield "".join([f"{start}{line}\n" for line in map("\t".join, cells)])


def _scores(content: Content) -> Iterator[str]:
    planes = [content.panel.human.values, *(each.values for each in content.measures.values())]
    return _grid(content, ["human", *content.measures], planes, content.documents)


def _floors(content: Content) -> Iterator[str]:
    """Write the baselines of every output."""
    return _grid(content, list(content.floors), list(content.floors.values()))


def _ratings(content: Content, ratings: Ratings) -> Iterator[str]:
    """Write the judgments behind the human scores, annotators in the order of their addition."""
    people = content.campaign.annotators.values_list("pk", "label")
    labels = {pk: _clean(label) for pk, label in people}
    systems, width = [_clean(name) for name in content.names], len(content.numbers)
    yield _line("annotator", "system", "segment", "score")
    order = np.argsort(ratings.annotator, kind="stable")
    rows = zip(
        ratings.annotator[order].tolist(),
        *(part.tolist() for part in np.divmod(ratings.place[order], width)),
        plain_numbers(ratings.score[order]),
        strict=True,
    )
    for annotator, system, segment, score in rows:
        yield f"{labels[annotator]}\t{systems[system]}\t{content.numbers[segment]}\t{score}\n"


def _metrics(content: Content) -> Iterator[str]:
    """Write labels, by which metrics of equal value are ordered, and the origin of scores."""
    yield _line("metric", "label", "is_lower_better", "origin")
    for key, measure in content.measures.items():
        yield _line(key, measure.label, int(not measure.higher_is_better), measure.origin)


def _counts(content: Content, key: str) -> Iterator[str]:
    statistics = content.measures[key].statistics
    assert statistics is not None  # noqa: S101  a counted measure has counts
    width = statistics.shape[2]
    header = [f"count_{number + 1}" for number in range(width)]
    return _grid(content, header, [statistics[:, :, number] for number in range(width)])


def _human_systems(content: Content) -> Iterator[str]:
    published = content.panel.human.published_systems
    yield _line("system", "score")
    for name, score in zip(content.names, published if published is not None else (), strict=True):
        yield _line(name, plain_number(float(score)))


def _metric_systems(content: Content) -> Iterator[str]:
    """Write imported system scores; a system without one has no line."""
    yield _line("metric", "system", "score")
    for key, scores in content.given.items():
        for name, score in zip(content.names, scores.tolist(), strict=True):
            if score == score:
                yield _line(key, name, plain_number(score))


def _spans(content: Content) -> Iterator[str]:
    """Write the spans that metrics marked, one per line; outputs without any have one line."""
    yield _line("set", *_cell_columns(content), *SPAN_COLUMNS, "category", "confidence")
    for detector in content.detectors:
        for pk, cell in _cells(content).items():
            for side, start, end, severity, *rest in detector.rows.get(pk, ()) or _CLEAN:
                named = "-".join(severity.split())
                if pk in detector.rows:
                    yield _line(detector.key, *cell, start, end, named, side, *rest)


def _human_spans(content: Content, gold: Gold) -> Iterator[str]:
    """Write the spans of annotators in the chosen judgments, ordered by annotator."""
    labels = dict(content.campaign.annotators.values_list("pk", "label"))
    cells, table = _cells(content), gold.table
    rows: defaultdict[int, list[int]] = defaultdict(list)
    for row, item in enumerate(table.item.tolist()):
        rows[item].append(row)
    yield _line("set", *_cell_columns(content), *SPAN_COLUMNS, "category")
    for item, (annotator, output) in enumerate(
        zip(gold.annotator.tolist(), gold.output.tolist(), strict=True)
    ):
        who = labels[annotator], *cells[output]
        for row in rows[item]:
            severity = ("undecided", *SEVERITIES)[table.severity[row] + 1]
            ends = table.start[row], table.end[row]
            yield _line(*who, *ends, severity, SIDES[table.side[row]], gold.categories[row])
        if not rows[item]:
            yield _line(*who, "", "", "no-error", "", "")


def _cell_columns(content: Content) -> list[str]:
    """Return the heads of an output's cells; with its document where documents are the unit."""
    return ["system", "segment", *(["document"] if content.documents else [])]


def _cells(content: Content) -> dict[int, tuple[str, ...]]:
    """Yield the cells of every output as files name them, in the order of the test set."""
    names = content.every_name
    columns = [content.numbers, *([content.documents] if content.documents else [])]
    number = {s.pk: n for s, *n in zip(content.segments, *columns, strict=True)}
    outputs = Output.objects.filter(system__in=names).order_by("segment__position", "system_id")
    rows = outputs.values_list("pk", "system_id", "segment_id")
    return {pk: (names[system], *number[segment]) for pk, system, segment in rows}


def _lengths(content: Content) -> Iterator[str]:
    unit = unit_of(content.campaign.test_set.target_language)
    own, goal, _ = output_lengths(content.campaign, content.panel, unit, "reference")
    return _grid(content, ["length", "wanted"], [own, goal])


def _evalset(content: Content) -> Files:
    """Write test set, human and metric scores in the layout of mt-metrics-eval, version 2."""
    is_published = content.campaign.published_scores.exists()
    for path, lines in mtme.bundle(content.campaign):
        if not (is_published and "/human-scores/" in path):
            yield f"mt-metrics-eval/{path}", lines
    test_set = content.campaign.test_set
    top, pair = f"mt-metrics-eval/{mtme.safe(test_set.slug)}", test_set.direction
    metrics, used = f"{top}/metric-scores/{pair}", _used(content)
    order = np.argsort(content.lines)
    if is_published:
        values = content.panel.human.values[:, order]
        yield f"{top}/human-scores/{pair}.published.seg.score", _column(content, values)
    for key, measure in content.measures.items():
        # The layout has no place for a missing metric score.
        if measure.is_complete and not np.isnan(measure.values).any():
            name = f"{metrics}/{mtme.in_path(key, HALF)}-{used}.seg.score"
            yield name, _column(content, _oriented(content, key, measure.values[:, order]))
    for key, scores in content.given.items():
        if not np.isnan(scores).any():
            name = f"{metrics}/{mtme.in_path(key, HALF)}-{used}.sys.score"
            yield name, _column(content, _oriented(content, key, scores[:, None]))


def _oriented(content: Content, key: str, scores: Floats) -> Floats:
    """Orient scores as the layout requires: higher is better for every metric."""
    return scores if content.measures[key].higher_is_better else 0.0 - scores


def _used(content: Content) -> str:
    """Return the references as the layout has them at the end of a metric's name."""
    names = sorted({name for each in content.references.values() for name in each})
    return mtme.in_path(".".join(mtme.reference_name(name) for name in names) or "src", HALF)


def _column(content: Content, values: Floats) -> Iterator[str]:
    for name, row in zip(content.names, values, strict=True):
        start = f"{name}\t"
        yield "".join([f"{start}{text}\n" for text in plain_numbers(row, empty="None")])
