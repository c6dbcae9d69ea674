"""Correlate XMoverScore with humans over the number of pairs (Zhao et al. 2020, figure 4).

The pairs of the parallel text are put in a random order. Projections are fitted to the first n of
them for each n, so that every sample is a part of the next, and the metric with each scores the
judged outputs of a campaign; n = 0 is the metric without a projection. Reported are Pearson's r and
Kendall's τ-b over outputs with intervals clustered by document, r over systems with jackknife
intervals, and the gain in r over n = 0. Where one n is chosen by these numbers, its correlation is
too high for other judgments.

A resumed job scores only what it has not scored before.
"""

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from annotation.models import Campaign, Output
from dashboards.correlations.agreement import NO_HUMAN_SCORES
from dashboards.panel.human import HumanScores, human_scores
from extensions.neural.mover import options as xmoverscore
from extensions.neural.mover.mapping import Kind
from extensions.neural.mover.xmoverscore import XMoverScore
from metaeval.arrays import mean_along
from metaeval.correlation.intervals import correlation_intervals, system_intervals
from metaeval.messages import Message, message
from metrics.base import MetricError, SegmentInput
from metrics.options import OptionError, clean_all
from training.contract import JobError, Outcome, Work, no_campaign
from training.jobs.saving import NOT_TRAINED, disk_errors, save_whole, write_whole
from training.pair_curve.options import KIND, projections_in, sizes_in
from training.parallel.reading import hash_pairs, write_pairs
from training.remap import fitting
from training.remap.job import Fit, load_encoder, prepare

# Outputs that are scored between two reports.
SLICE = 64
Array = NDArray[np.float64]
# The name of the rows in results.
ROWS = "correlations"


@dataclass(frozen=True)
class Point:
    """A projection fitted to a number of pairs; without a projection, to none.

    ``mapping`` is its folder, ``width`` the numbers of a vector.
    """

    projection: str = ""
    pairs: int = 0
    vectors: int = 0
    mapping: str = ""
    width: int = 0

    @property
    def name(self) -> str:
        """Its name among metrics and in files."""
        return f"{self.projection}-{self.pairs}" if self.projection else "none"


@dataclass(frozen=True)
class Judged:
    """The judged outputs: their positions among systems × segments, and their texts."""

    human: HumanScores
    keys: list[int]
    places: list[tuple[int, int]]
    texts: list[SegmentInput]

    def spread(self, values: Array) -> Array:
        """Return (systems, segments), nan elsewhere."""
        grid = np.full(self.human.values.shape, np.nan)
        grid[tuple(np.array(self.places).T)] = values
        return grid


def run(work: Work) -> Outcome:
    """Fit, score and correlate; raises JobError or StoppedError."""
    campaign = Campaign.objects.filter(slug=str(work.options["campaign"])).first()
    if campaign is None:
        raise JobError(no_campaign(str(work.options["campaign"])))
    judged = read_judged(campaign)
    with disk_errors(work.folder, NOT_TRAINED):
        work.folder.mkdir(parents=True, exist_ok=True)
    sizes = sizes_in(str(work.options["sizes"]))
    fit = _fit(work, sizes[-1])
    points, total = [Point()], fit.text.n_fitted
    names = ["", *projections_in(str(work.options["projections"]))]
    for size in [*(size for size in sizes if size < total), min(sizes[-1], total)]:
        points += _points(work, fit, size)
    # By projection, then by number.
    points.sort(key=lambda point: names.index(point.projection))
    values = {}
    for number, point in enumerate(points):
        progress = {"step": number * len(judged.keys), "total": len(points) * len(judged.keys)}
        scored = _scores(work, campaign, judged, point, fit.about.layer, progress)
        values[point.name] = judged.spread(scored)
    warnings = _warnings(points, sizes[-1], total)
    return Outcome(
        {
            "human": {
                "outputs": len(judged.keys),
                "segments": len({segment for _, segment in judged.places}),
                "systems": len({system for system, _ in judged.places}),
                "source": judged.human.source,
            },
            "encoder": {"name": fit.about.encoder, "fingerprint": fit.about.fingerprint},
            "layer": fit.about.layer,
            "direction": f"{fit.about.source_language}→{fit.about.target_language}",
            "pairs": {name: n for name, n in fit.text.counts.items() if name != "held_out"},
            ROWS: correlate(judged.human, points, values),
            **({"warnings": warnings} if warnings else {}),
        }
    )


def read_judged(campaign: Campaign) -> Judged:
    """Read the outputs with a human score; JobError without any."""
    human = human_scores(campaign)
    row = {system.pk: number for number, system in enumerate(human.systems)}
    column = {segment: number for number, segment in enumerate(human.segments)}
    found = Output.objects.filter(system__in=human.systems).order_by("pk")
    rows = [
        (pk, (row[system], column[segment]), SegmentInput(source, text, ()))
        for pk, system, segment, source, text in found.values_list(
            "pk", "system_id", "segment_id", "segment__source", "text"
        )
    ]
    rows = [each for each in rows if np.isfinite(human.values[each[1]])]
    if not rows:
        raise JobError(NO_HUMAN_SCORES)
    keys, places, texts = (list(part) for part in zip(*rows, strict=True))
    return Judged(human, keys, places, texts)


def _fit(work: Work, largest: int) -> Fit:
    """Encode as many pairs as the largest number, in a random order."""
    corpora = list(work.corpora)
    if len({(each.source_language, each.target_language) for each in corpora}) == 1:
        pairs = [pair for corpus in corpora for pair in corpus.pairs]
        random.Random(int(work.options["seed"])).shuffle(pairs)
        corpora = [replace(corpora[0], pairs=pairs)]
    given = {**work.options, "pairs": largest, "curve": False, "projection": "clp"}
    asked = replace(work, options=given, corpora=corpora)
    text = prepare(asked)
    encoder, layer = load_encoder(asked)
    return Fit(asked, replace(text, held=range(0)), encoder, layer)


def _points(work: Work, fit: Fit, size: int) -> list[Point]:
    """Fit all projections to the first pairs, and save them."""
    vectors = fit.vectors(range(size))
    about = replace(fit.about, data_hash=hash_pairs(write_pairs(fit.text.raw[:size])))
    points = []
    for kind in projections_in(str(work.options["projections"])):
        fitted = fitting.fit_to(cast(Kind, kind), replace(about, kind=cast(Kind, kind)), vectors)
        folder = save_whole(work.folder, f"{kind}-{size}", fitted.save, fitted.array.nbytes)
        points.append(Point(kind, size, len(vectors), str(folder.absolute()), fitted.width))
    return points


def _scores(
    work: Work,
    campaign: Campaign,
    judged: Judged,
    point: Point,
    layer: int,
    progress: Mapping[str, int],
) -> Array:
    """Return the scores of all judged outputs, from the folder if they are there."""
    stage = message("stage.metric", "loading {metric}", metric=f"XMoverScore, {point.name}")
    work.report({"stage": stage, **progress})
    digest = hashlib.sha256(repr(judged.keys).encode()).hexdigest()[:16]
    path = work.folder / f"scores-{point.name}-{digest}.npy"
    if path.exists():
        stored: Array = np.load(path, allow_pickle=False)
        return stored
    names = ("checkpoint", "definition", "n", "language-model")
    given = {name: work.options[name] for name in names}
    given |= {"mapping": point.mapping, "layer": layer}
    test_set, scored = campaign.test_set, list[Array]()
    try:
        chosen = clean_all(xmoverscore.FAMILY.options, given)
        info = xmoverscore.describe(KIND, "XMoverScore", chosen)
        metric = XMoverScore(
            info,
            source_language=test_set.source_language,
            target_language=test_set.target_language,
        )
        column = info.measures.index(info.shown[0])
        for start in range(0, len(judged.texts), SLICE):
            part = judged.texts[start : start + SLICE]
            scored.append(np.asarray(metric.score(part)[:, column], dtype=np.float64))
            work.report({"stage": stage, **progress, "step": progress["step"] + start + len(part)})
    except OptionError as error:
        raise JobError(error.problem) from error
    except MetricError as error:
        raise JobError(error.message) from error
    values = np.concatenate(scored)
    write_whole(path, lambda file: np.save(file, values, allow_pickle=False), values.nbytes)
    return values


def correlate(
    human: HumanScores, points: Sequence[Point], values: Mapping[str, Array]
) -> list[dict[str, Any]]:
    """Return a row for each point; the first is the one without a projection.

    ``values`` are (systems, segments) scores by the points' names.
    """
    matrices = {name: human.matrix(grid) for name, grid in values.items()}
    segments = correlation_intervals(human.matrix(), matrices, "pearson")
    ranks = correlation_intervals(human.matrix(), matrices, "kendall")
    means = {name: mean_along(grid, axis=1) for name, grid in values.items()}
    systems = system_intervals(human.of_systems, means, "pearson")
    rows = []
    for place, point in enumerate(points):
        row: dict[str, Any] = {
            "projection": point.projection,
            "pairs": point.pairs,
            "pairs_of_vectors": point.vectors,
        }
        for name, found in (("r", segments), ("tau", ranks), ("r_system", systems)):
            row |= _ends(name, found.values[place], found.lows[place], found.highs[place])
        gain = segments.differences, segments.difference_lows, segments.difference_highs
        row |= _ends("gain", *(part[place, 0] for part in gain)) if place else _ends("gain")
        rows.append(row)
    return rows


def _ends(name: str, *found: float) -> dict[str, float | None]:
    """Return a value and its interval, None where undefined."""
    numbers = [float(value) if np.isfinite(value) else None for value in found] or [None] * 3
    return dict(zip((name, f"{name}_low", f"{name}_high"), numbers, strict=True))


def _warnings(points: Sequence[Point], asked: int, total: int) -> list[Message]:
    found = []
    if total < asked:
        found.append(
            message(
                "remap.fewer-pairs",
                "Only {found} of the requested {wanted} pairs are available.",
                found=total,
                wanted=asked,
            )
        )
    few = sorted({point.pairs for point in points if point.vectors < point.width})
    if few:
        found.append(
            message(
                "pair-curve.underdetermined",
                "With {sizes} sentence pairs there are fewer pairs of vectors than {dimensions} "
                "dimensions, so these fits are not determined by the data.",
                sizes=few,
                dimensions=points[-1].width,
            )
        )
    return found
