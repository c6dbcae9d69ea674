"""What COMET's models that embed texts apart make of the vectors, by class of comet 2.2."""

from collections.abc import Mapping
from typing import Any

import torch
from torch.nn.functional import pairwise_distance

Sides = Mapping[str, torch.Tensor]
RANKING = "ranking_metric"


def scores(model: Any, sides: Sides) -> torch.Tensor:
    """Return the (n,) scores of (n, width) vectors of each side that the model reads."""
    if model.hparams.class_identifier == RANKING:
        return _similarity(sides)
    found = model.estimator(_features(sides))
    return torch.as_tensor(found).view(-1).float()


def _features(sides: Sides) -> torch.Tensor:
    """The features of an estimator (Rei et al. 2020, eq. 2; without reference, Rei et al. 2021).

    A sentinel has one side alone (Perrella et al. 2024).
    """
    if len(sides) == 1:
        return next(iter(sides.values()))
    source, output = sides["src"], sides["mt"]
    product, difference = output * source, (output - source).abs()
    features = [output, source, product, difference]
    if "ref" in sides:
        reference = sides["ref"]
        with_reference = [output * reference, (output - reference).abs()]
        features = [output, reference, *with_reference, product, difference]
    return torch.cat(features, dim=1)


def _similarity(sides: Sides) -> torch.Tensor:
    """A ranker's 1 / (1 + harmonic mean of the distances to source and reference) (Rei et al.
    2020, eq. 6 and 7)."""
    source, reference = (pairwise_distance(sides["mt"], sides[side]) for side in ("src", "ref"))
    return (1 / (1 + 2 * source * reference / (source + reference))).float()
