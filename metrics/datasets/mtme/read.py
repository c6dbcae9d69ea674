"""Read one language pair of an mt-metrics-eval folder as drafts.

Segments are named by their number in the files, from 1. Every human score becomes a closed
campaign: with judgments if the folder contains the ratings behind it, and with published scores if
it does not, or if the scores differ from the ratings.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from django.utils.text import slugify

from annotation import protocols
from annotation.imports import CampaignDraft
from annotation.models import Campaign
from annotation.uploads import SegmentDraft, SystemDraft, TestSetDraft
from annotation.uploads.problems import Place, Report
from annotation.uploads.tables.cells import direction_message, say_direction
from core import languages
from metaeval.files import EvalSet, FormatError, read_evalset
from metaeval.files.evalset.folder import NO_SOURCE, Scores
from metaeval.messages import Message, message, plural, truncated
from metaeval.scores.directions import Direction, infer_direction, stated_direction
from metrics.datasets.mtme import ratings
from metrics.datasets.store import EvaluationDraft, MetricDraft
from metrics.imported.held import DOCUMENT, DOMAIN, Part

# Scores in files are rounded: what differs by less is the same.
TOLERANCE = 1e-6
# What human scores are of: outputs and whole systems.
LEVELS = ("seg", "sys", "doc", "domain")
LONGEST_SLUG, LONGEST_NAME = 80, 120
Cells = dict[tuple[str, str], float]


@dataclass(frozen=True)
class Choice:
    """The part of a folder to import, by default everything.

    `lower` and `higher` are metrics and human scores with a stated direction. In the layout higher
    is always better; the direction of others is inferred. `name` is that of the test set, by
    default the folder's. `study` is the study of the campaigns, by default one of that name, and
    `question` their question, by default that of their protocol.
    """

    human: Collection[str] = ()
    metrics: Collection[str] | None = None
    lower: Collection[str] = ()
    higher: Collection[str] = ()
    name: str = ""
    study: str = ""
    question: str = ""

    def direction(self, name: str, scores: Iterable[Scores], *, is_human: bool) -> Direction:
        """Return the direction of a metric or a human score: stated, or else inferred."""
        if name in self.lower or name in self.higher:
            return stated_direction(is_lower=name in self.lower)
        rows = [row for each in scores for row in each.values.values()]
        return infer_direction(name, np.concatenate(rows) if rows else (), is_human=is_human)


def read(folder: Path, pair: str, report: Report, choice: Choice | None = None) -> EvaluationDraft:
    """Read a language pair; errors go to the report, by file and line."""
    choice = choice or Choice()
    faults: list[FormatError] = []
    wanted = None if choice.metrics is None else set(choice.metrics).__contains__
    evalset = read_evalset(folder, pair, metrics=wanted, faults=faults)
    for fault in faults:
        report.error(fault.message, Place(str(fault.path.relative_to(folder)), fault.line))
    return draft_of(evalset, report, choice)


def draft_of(evalset: EvalSet, report: Report, choice: Choice) -> EvaluationDraft:
    """Turn the content of a folder into drafts."""
    _check_choice(evalset, report, choice)
    test_set = _test_set(evalset, choice, report)
    metrics = dict.fromkeys(name for name, _ in evalset.metric_scores)
    return EvaluationDraft(
        test_set,
        _campaigns(evalset, test_set, report, choice),
        [_metric(evalset, name, choice, report) for name in metrics],
        message(
            "mtme.origin",
            "{path} of the mt-metrics-eval folder {folder}.",
            path=f"metric-scores/{evalset.language_pair}",
            folder=evalset.name,
        ),
    )


def _check_choice(evalset: EvalSet, report: Report, choice: Choice) -> None:
    """Report chosen names that the folder does not have."""
    pair, metrics = evalset.language_pair, {name for name, _ in evalset.metric_scores}
    scores = {name for name, _ in evalset.human_scores} | set(evalset.ratings)
    for chosen, known, where in (
        (choice.human, scores, f"human-scores/{pair}.*"),
        (choice.metrics or (), metrics, f"metric-scores/{pair}"),
        (choice.lower, metrics | scores, f"metric-scores/{pair}"),
        (choice.higher, metrics | scores, f"metric-scores/{pair}"),
    ):
        if missing := sorted(set(chosen) - known):
            refusal = message(
                "mtme.unknown-names",
                "The folder does not have {names}. It has {n} names ({known}).",
                names=truncated(missing),
                n=len(known),
                known=truncated(sorted(known), 40),
            )
            report.error(refusal, Place(where))


def _test_set(evalset: EvalSet, choice: Choice, report: Report) -> TestSetDraft:
    pair = evalset.language_pair
    name = choice.name or evalset.name
    full = name if name.endswith(pair) else f"{name} {pair}"
    source, target = languages.split_pair(pair)
    if evalset.sources and set(evalset.sources) == {NO_SOURCE}:
        report.warn(
            message(
                "mtme.no-sources", "There is no such file. Sources are marked as not published."
            ),
            Place(f"sources/{pair}.txt"),
        )
    return TestSetDraft(
        slug=_slug(full),
        name=full[:LONGEST_NAME],
        source_language=source,
        target_language=target,
        segments=_segments(evalset),
        systems=_systems(evalset),
        is_in_file_order=True,
        keys_are_lines=True,
    )


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9_]+", "-", text).strip("-")[:LONGEST_SLUG] or "set"


def _segments(evalset: EvalSet) -> list[SegmentDraft]:
    documents = evalset.documents or (("", ""),) * len(evalset.sources)
    return [
        SegmentDraft(
            key=key,
            source=source,
            document=document,
            domain=domain,
            references={
                reference_name(name): text
                for name, texts in evalset.references.items()
                if (text := texts[place])
            },
        )
        for place, (key, source, (domain, document)) in enumerate(
            zip(evalset.segments, evalset.sources, documents, strict=True)
        )
    ]


def reference_name(name: str) -> str:
    """Return our name of a reference: `A` for `refA`.

    >>> reference_name("refA"), reference_name("refb"), reference_name("ref")
    ('A', 'b', 'ref')
    """
    return name.removeprefix("ref") or name


def _systems(evalset: EvalSet) -> list[SystemDraft]:
    """Return every system with outputs or scores; a reference with scores is a system.

    If there are no outputs at all, the texts of systems are empty: they can be compared, but not
    read.
    """
    texts: dict[str, Sequence[str | None]] = dict(evalset.outputs)
    scored = [rows.values for rows in evalset.human_scores.values()]
    scored += [rows.values for rows in evalset.metric_scores.values()]
    for name in dict.fromkeys(
        name for rows in [*scored, *evalset.ratings.values()] for name in rows
    ):
        if name not in texts:
            texts[name] = evalset.references.get(name) or [""] * len(evalset.sources)
    keys = evalset.segments
    return [
        SystemDraft(name, outputs={k: t for k, t in zip(keys, own, strict=True) if t is not None})
        for name, own in texts.items()
    ]


def _metric(evalset: EvalSet, name: str, choice: Choice, report: Report) -> MetricDraft:
    """Return a metric's scores, without scores of missing outputs."""
    outputs, systems, documents, domains = (
        evalset.metric_scores.get((name, level)) for level in ("seg", "sys", "doc", "domain")
    )
    rows: dict[str, list[float]] = {}
    lost = 0
    given = [each for each in (outputs, systems, documents, domains) if each]
    direction = choice.direction(name, given, is_human=False)
    say_direction(name, direction, report)
    _note_missing(name, given, report)
    for system, row in outputs.values.items() if outputs else ():
        rows[system] = row.tolist()
        for place, text in enumerate(evalset.outputs.get(system, ())):
            if text is None:
                rows[system][place] = np.nan
                lost += 1
    if lost:
        where = Place(f"metric-scores/{evalset.language_pair}/{name}.seg.score")
        report.warn(_without_output(lost), where)
    return MetricDraft(
        name,
        evalset.segments,
        rows,
        {system: float(row[0]) for system, row in systems.values.items()} if systems else {},
        {
            **_of_parts(DOCUMENT, list(dict.fromkeys(d for _, d in evalset.documents)), documents),
            **_of_parts(DOMAIN, domains.domains if domains else (), domains),
        },
        higher_is_better=not direction.is_lower,
        note=direction_message(direction),
    )


def _of_parts(
    level: str, names: Sequence[str], scores: Scores | None
) -> dict[tuple[str, Part], float]:
    return {
        (system, Part(level, name)): float(score)
        for system, row in (scores.values.items() if scores else ())
        for name, score in zip(names, row, strict=True)
    }


def _note_missing(name: str, scores: Iterable[Scores], report: Report) -> None:
    missing = sum(int(np.isnan(row).sum()) for each in scores for row in each.values.values())
    report.note_of(
        missing,
        "mtme.missing-scores",
        "{name}: {n} score is missing.",
        "{name}: {n} scores are missing.",
        name=name,
    )


def _without_output(n: int) -> Message:
    return plural(
        "mtme.scores-without-output",
        "Skipped {n} score of a segment without an output.",
        "Skipped {n} scores of segments without an output.",
        n=n,
    )


def _campaigns(
    evalset: EvalSet, test_set: TestSetDraft, report: Report, choice: Choice
) -> list[CampaignDraft]:
    """Return a campaign for every human score."""
    files = ratings.by_score(evalset, report)
    repeated = {
        ratings.own_scores(name, number)
        for name, own in files.items()
        for number in range(1, len(own) + 1)
    }
    names = dict.fromkeys([*(name for name, _ in evalset.human_scores), *files])
    found = []
    for name in names:
        if name in repeated or (choice.human and name not in choice.human):
            continue
        draft = _campaign(evalset, name, files.get(name, ()), choice, report)
        found.append(
            replace(
                draft,
                slug=_slug(f"{test_set.slug}-{name}"),
                name=f"{test_set.name}: {name}"[:LONGEST_NAME],
                study=choice.study or slugify(evalset.name)[:LONGEST_SLUG],
            )
        )
    return found


def _campaign(
    evalset: EvalSet, name: str, files: Sequence[str], choice: Choice, report: Report
) -> CampaignDraft:
    """Return a campaign of this score, without name and address."""
    place = Place(f"human-scores/{evalset.language_pair}.{name}")
    rated = ratings.Rated(protocols.DEFAULT)
    if files:
        try:
            rated = ratings.read(evalset, name, files, report)
        except ratings.NotUsableError as error:
            add = report.warn if (name, "seg") in evalset.human_scores else report.error
            add(error.message, place)
    outputs, systems = _published(evalset, name, report)
    given = [evalset.human_scores[key] for level in LEVELS
             if (key := (name, level)) in evalset.human_scores]  # fmt: skip
    direction = choice.direction(name, given, is_human=True)
    say_direction(name, direction, report)
    _note_missing(name, given, report)
    if rated.judgments:
        sign = -1 if direction.is_lower else 1
        if _follow({cell: sign * value for cell, value in outputs.items()}, systems, rated.means()):
            outputs, systems = {}, {}
        else:
            text = message(
                "mtme.scores-differ-from-ratings",
                "The scores do not match the ratings. Both are stored, and the scores are used.",
            )
            report.warn(text, place)
    parts = _published_parts(evalset, name)
    if not (rated.judgments or outputs or systems or parts):
        report.warn(
            message("mtme.no-scores", "The file has no scores, so its campaign is empty."), place
        )
    has_scores = bool(outputs or systems or parts)
    question = choice.question or protocols.get(rated.protocol).question
    return CampaignDraft(
        slug="",
        name="",
        question=question,
        protocol=rated.protocol,
        shown_text=Campaign.ShownText.SOURCE,
        items=rated.items,
        judgments=rated.judgments,
        output_scores=outputs,
        system_scores=systems,
        part_scores=parts,
        lower_is_better=bool(direction.is_lower) and has_scores,
        direction=direction_message(direction) if has_scores else None,
    )


def _published(evalset: EvalSet, name: str, report: Report) -> tuple[Cells, dict[str, float]]:
    """Return scores of outputs, and scores of systems unless they are the outputs' means."""
    segments = evalset.human_scores.get((name, "seg"))
    systems = evalset.human_scores.get((name, "sys"))
    texts = evalset.outputs or {}
    outputs: Cells = {}
    lost = 0
    for system, row in segments.values.items() if segments else ():
        own = texts.get(system)
        for place, value in enumerate(row.tolist()):
            if value != value:
                continue
            if own is not None and own[place] is None:
                lost += 1
                continue
            outputs[system, evalset.segments[place]] = value
    if lost:
        where = Place(f"human-scores/{evalset.language_pair}.{name}.seg.score")
        report.warn(_without_output(lost), where)
    whole = {s: float(v[0]) for s, v in systems.values.items() if v[0] == v[0]} if systems else {}
    return outputs, {} if outputs and _are_means(whole, outputs) else whole


def _published_parts(evalset: EvalSet, name: str) -> dict[tuple[str, str, str], float]:
    """Return the human scores of documents and domains, of (system, level, name)."""
    documents = list(dict.fromkeys(document for _, document in evalset.documents))
    found: dict[tuple[str, str, str], float] = {}
    for level, key in (("doc", DOCUMENT), ("domain", DOMAIN)):
        scores = evalset.human_scores.get((name, level))
        names = documents if level == "doc" else scores.domains if scores else ()
        found |= {
            (system, part.level, part.name): value
            for (system, part), value in _of_parts(key, names, scores).items()
            if value == value
        }
    return found


def _are_means(systems: Mapping[str, float], outputs: Mapping[tuple[str, str], float]) -> bool:
    rows: dict[str, list[float]] = {}
    for (system, _), value in outputs.items():
        rows.setdefault(system, []).append(value)
    return systems.keys() <= rows.keys() and all(
        np.isclose(value, np.mean(rows[system]), rtol=1e-9, atol=1e-9)
        for system, value in systems.items()
    )


def _follow(
    outputs: Mapping[tuple[str, str], float],
    systems: Mapping[str, float],
    means: Mapping[tuple[str, str], float],
) -> bool:
    """Return whether the published scores equal those of the judgments, and none is missing."""
    if outputs and outputs.keys() != means.keys():
        return False
    return not systems and all(
        abs(value - means[cell]) <= TOLERANCE for cell, value in outputs.items()
    )
