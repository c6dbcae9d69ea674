"""Train a small supervised head that predicts human scores from a frozen encoder's similarities.

Ridge regression on few features, fitted on the judgments of one campaign. Judgments become z-scores
with the annotator's mean and standard deviation *on training texts*; published scores stay as they
are. The penalty is chosen by five-fold cross-validation within the training texts. Results come
from held-out source texts: r and τ-b of the head and of F1 only, and the gain, with intervals from
20 source texts.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from annotation.models import Campaign
from extensions.neural.encoding import encoders
from extensions.neural.trained import refreeeval
from metaeval.correlation.intervals.crossed import FEWEST_SEGMENTS
from metaeval.messages import Message, message, plural
from metaeval.reasons import reason_of
from metrics.base import MetricError
from training.contract import JobError, NewMetric, Outcome, Work, no_campaign
from training.head import judged, ridge
from training.head.judged import Split, compare
from training.head.options import layers_error
from training.jobs.saving import save_whole

Array = NDArray[np.float64]


def run(work: Work) -> Outcome:
    """Fit, and measure on held-out texts; raises JobError."""
    options = work.options
    campaign = _campaign(str(options["campaign"]))
    layers = _layers(str(options["layers"]))
    split = judged.split(campaign, float(options["held_out"]), int(options["seed"]))
    work.report({"step": 0, "total": 1})
    try:
        encoder = encoders.get(str(options["encoder"]))
        train, held_out = (
            refreeeval.read_features(encoder, [(each.text, each.source) for each in part], layers)
            for part in (split.train, split.held_out)
        )
    except (MetricError, ValueError) as error:
        raise JobError(reason_of(error)) from error
    sources = np.array([each.source for each in split.train])
    fit = ridge.choose(
        train, np.array([each.score for each in split.train]), sources, int(options["seed"])
    )
    document = _document(fit, layers, encoder.spec.weights, campaign.slug)
    folder = save_whole(work.folder, "head", lambda path: _write(path / "head.json", document))
    names = refreeeval.feature_names(layers)
    baseline = held_out[:, names.index(f"F1-{layers[-1]}")]
    values = {"head": fit.predict(held_out), "unsupervised": baseline}
    result = {
        "n_train": len(split.train),
        "n_held_out": len(split.held_out),
        "held_out": compare(split.held_out, values),
        "penalty": fit.penalty,
        "weights": dict(zip(names, fit.weights.tolist(), strict=True)),
        "warnings": _warnings(split, campaign),
    }
    head = str((folder / "head.json").absolute())
    label = f"Head on {campaign.slug} (layers {options['layers']})"
    chosen = {"checkpoint": options["encoder"], "head": head}
    return Outcome(result, NewMetric("refreeeval-head", label, chosen))


def _campaign(slug: str) -> Campaign:
    campaign = Campaign.objects.filter(slug=slug).first()
    if campaign is None:
        raise JobError(no_campaign(slug))
    return campaign


def _layers(given: str) -> list[int]:
    try:
        return sorted({int(layer) for layer in given.split(",")})
    except ValueError:
        raise JobError(layers_error(given)) from None


def _document(fit: ridge.Fit, layers: Sequence[int], weights: str, campaign: str) -> dict[str, Any]:
    """Return the head in the form of :func:`extensions.neural.trained.options.load_head`."""
    return {
        "layers": list(layers),
        "features": refreeeval.feature_names(layers),
        "mean": fit.mean.tolist(),
        "scale": fit.scale.tolist(),
        "weights": fit.weights.tolist(),
        "intercept": fit.intercept,
        "encoder": weights,
        "fitted_on": f"the campaign {campaign}",
    }


def _write(path: Path, document: dict[str, Any]) -> None:
    path.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")


def _warnings(split: Split, campaign: Campaign) -> list[Message]:
    found = [
        message(
            "head.trained-on-campaign",
            "This metric was trained on {campaign}, so its correlations on the dashboard of that "
            "campaign are too high. Report the held-out values.",
            campaign=campaign.slug,
        )
    ]
    n_texts = len({each.segment for each in split.held_out})
    if n_texts < FEWEST_SEGMENTS:
        found.append(judged.too_few_sources(n_texts))
    if split.n_excluded:
        found.append(
            plural(
                "head.excluded",
                "{n} judgment was excluded because the scores of its annotator on training texts "
                "do not vary.",
                "{n} judgments were excluded because the scores of their annotators on training "
                "texts do not vary.",
                n=split.n_excluded,
            )
        )
    return found
