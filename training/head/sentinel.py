"""A sentinel: human scores predicted by one who reads too little (Perrella et al. 2024).

Ridge regression on sentence vectors of a frozen encoder, or on lengths. Sources are cut into five
folds by document (by source, where there are fewer documents); the correlation that is reported,
with an interval, and what the metric that comes of it says of these outputs, is each time of the
fit that never saw the source. Penalties are chosen by folds within.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from annotation.models import Campaign
from extensions.neural.sentinels import scorer
from extensions.neural.sentinels.options import LENGTHS, SOURCE, Array
from metaeval.correlation.intervals.crossed import FEWEST_SEGMENTS
from metrics.base import MetricError
from training.contract import JobError, NewMetric, Outcome, Work
from training.head import judged, ridge
from training.head.judged import Judged, Split, compare
from training.jobs.saving import save_whole

SHORT = {LENGTHS: "lengths", SOURCE: "sources"}


def run(work: Work) -> Outcome:
    """Fit a line for each fold, and report on what each held out; raises JobError."""
    options, reads = work.options, str(work.options["reads"])
    campaign = Campaign.objects.filter(slug=str(options["campaign"])).first()
    if campaign is None:
        raise JobError(f"There is no campaign {options['campaign']}.")
    splits = judged.folds(campaign, ridge.FOLDS, int(options["seed"]))
    encoder = None if reads == LENGTHS else _encoder(str(options["encoder"]))
    fits, predicted = [], []
    for fold, split in enumerate(splits):
        work.report({"step": fold, "total": len(splits)})
        train, held = (_features(reads, part, encoder) for part in (split.train, split.held_out))
        sources = np.array([each.source for each in split.train])
        scores = np.array([each.score for each in split.train])
        fits.append(ridge.choose(train, scores, sources, int(options["seed"])))
        predicted.append(fits[-1].predict(held))
    weights = encoder.weights if encoder else ""
    document = _document(reads, weights, campaign.slug, fits, splits)
    folder = save_whole(work.folder, "sentinel", lambda path: _write(path, document))
    chosen = {
        "sentinel": str((folder / "sentinel.json").absolute()),
        "checkpoint": str(options["encoder"]) if encoder else "",
    }
    label = f"Sentinel of {SHORT.get(reads, 'outputs')} on {campaign.slug}"
    result = _result(splits, np.concatenate(predicted), reads)
    return Outcome(result, NewMetric("trained-sentinel", label, chosen))


def _encoder(name: str) -> Any:
    from extensions.neural.sentence_vectors import SentenceEncoder

    try:
        return SentenceEncoder(name)
    except MetricError as error:
        raise JobError(str(error)) from error


def _features(reads: str, rows: Sequence[Judged], encoder: Any) -> Array:
    try:
        return scorer.read_features(reads, [(each.source, each.text) for each in rows], encoder)
    except MetricError as error:
        raise JobError(str(error)) from error


def _document(
    reads: str, weights: str, campaign: str, fits: Sequence[ridge.Fit], splits: Sequence[Split]
) -> dict[str, Any]:
    """As :func:`extensions.neural.sentinels.options.load` reads it."""
    held = [(each.source, fold) for fold, split in enumerate(splits) for each in split.held_out]
    return {
        "reads": reads,
        "encoder": weights,
        "fitted_on": f"the campaign {campaign}",
        "lines": [
            {
                "mean": fit.mean.tolist(),
                "scale": fit.scale.tolist(),
                "weights": fit.weights.tolist(),
                "intercept": fit.intercept,
            }
            for fit in fits
        ],
        "fold_of": {scorer.source_digest(source): fold for source, fold in held},
    }


def _write(folder: Path, document: dict[str, Any]) -> None:
    text = json.dumps(document, indent=1) + "\n"
    (folder / "sentinel.json").write_text(text, encoding="utf-8")


def _result(splits: Sequence[Split], predicted: Array, reads: str) -> dict[str, Any]:
    """Correlations over all outputs, each predicted by the fit that never saw its source."""
    rows = [each for split in splits for each in split.held_out]
    values = {"sentinel": predicted}
    if reads != LENGTHS:
        values["source_length"] = -np.log1p([len(each.source) for each in rows])
    return {
        "n_outputs": len(rows),
        "n_folds": len(splits),
        "held_out": compare(rows, values),
        "warnings": _warnings(rows, splits, reads),
    }


def _warnings(rows: Sequence[Judged], splits: Sequence[Split], reads: str) -> list[str]:
    found = []
    if reads == SOURCE:
        found.append(
            "It says nothing of which output of a segment is better: grouped by segment its "
            "correlation is undefined or 0."
        )
    n_texts = len({each.segment for each in rows})
    if n_texts < FEWEST_SEGMENTS:
        found.append(
            f"{n_texts} source texts are too few for intervals: {FEWEST_SEGMENTS} are needed."
        )
    if n_left_out := max(split.n_left_out for split in splits):
        found.append(
            f"Up to {n_left_out:,} judgments a fold are left out: their annotators have no spread "
            "of scores on the other folds."
        )
    return found
