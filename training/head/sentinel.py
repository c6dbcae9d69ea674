"""Train a sentinel, which predicts human scores from too little text (Perrella et al. 2024).

Ridge regression on sentence vectors of a frozen encoder, or on lengths. Sources are split into five
folds by document (by source, if there are fewer documents). The reported correlation with its
interval, and the scores of the resulting metric on these outputs, come from the fit that did not
use the source. Penalties are chosen by folds within.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from annotation.models import Campaign
from extensions.neural.trained import sentinels
from extensions.neural.trained.options import LENGTHS, SOURCE, Array
from metaeval.correlation.intervals.crossed import FEWEST_SEGMENTS
from metaeval.messages import Message, message, plural
from metrics.base import MetricError
from training.contract import JobError, NewMetric, Outcome, Work, no_campaign
from training.head import judged, ridge
from training.head.judged import Judged, Split, compare
from training.jobs.saving import save_whole

SHORT = {LENGTHS: "lengths", SOURCE: "sources"}


def run(work: Work) -> Outcome:
    """Fit a line for each fold, and measure it on the held-out part; raises JobError."""
    options, reads = work.options, str(work.options["reads"])
    campaign = Campaign.objects.filter(slug=str(options["campaign"])).first()
    if campaign is None:
        raise JobError(no_campaign(str(options["campaign"])))
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
        raise JobError(error.message) from error


def _features(reads: str, rows: Sequence[Judged], encoder: Any) -> Array:
    try:
        return sentinels.read_features(reads, [(each.source, each.text) for each in rows], encoder)
    except MetricError as error:
        raise JobError(error.message) from error


def _document(
    reads: str, weights: str, campaign: str, fits: Sequence[ridge.Fit], splits: Sequence[Split]
) -> dict[str, Any]:
    """Return the lines in the form of :func:`extensions.neural.trained.options.load_sentinel`."""
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
        "fold_of": {sentinels.source_digest(source): fold for source, fold in held},
    }


def _write(folder: Path, document: dict[str, Any]) -> None:
    text = json.dumps(document, indent=1) + "\n"
    (folder / "sentinel.json").write_text(text, encoding="utf-8")


def _result(splits: Sequence[Split], predicted: Array, reads: str) -> dict[str, Any]:
    """Return correlations over all outputs, each predicted by a fit without its source."""
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


def _warnings(rows: Sequence[Judged], splits: Sequence[Split], reads: str) -> list[Message]:
    found = []
    if reads == SOURCE:
        found.append(
            message(
                "sentinel.source-only",
                "This sentinel reads the source only, so it cannot compare outputs of a segment: "
                "grouped by segment, its correlation is undefined or 0.",
            )
        )
    n_texts = len({each.segment for each in rows})
    if n_texts < FEWEST_SEGMENTS:
        found.append(judged.too_few_sources(n_texts))
    if n_excluded := max(split.n_excluded for split in splits):
        found.append(
            plural(
                "sentinel.excluded",
                "Up to {n} judgment per fold was excluded because the scores of its annotator on "
                "the other folds do not vary.",
                "Up to {n} judgments per fold were excluded because the scores of their annotators "
                "on the other folds do not vary.",
                n=n_excluded,
            )
        )
    return found
