"""Scores in slices are the scores, and an error still names the segment of the whole chunk."""

import numpy as np
import pytest

from extensions.neural.encoding import ahead
from metrics.base import MetricError, SegmentInput
from tests.extensions.neural.reference_free import INPUTS, make
from tests.refusals import refused


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("family", ["xbertscore", "yisi", "cosine", "sentsim", "yisi-0"])
def test_slices_change_nothing(family: str, mbert: str, monkeypatch: pytest.MonkeyPatch) -> None:
    layer = {} if family in ("cosine", "yisi-0") else {"layer": 2}
    encoder = {} if family == "yisi-0" else {"checkpoint": mbert}
    token = {"encoder": mbert} if family == "sentsim" else {}
    metric = make(family, **encoder, **layer, **token)
    whole = metric.score(INPUTS)
    monkeypatch.setattr(ahead, "SIZE", 3)
    np.testing.assert_allclose(metric.score(INPUTS), whole, rtol=1e-5, atol=1e-6)
    assert metric.score([]).shape == (0, metric.info.width)
    with refused("metric.lone-surrogate", kind=MetricError) as caught:
        metric.score([*INPUTS, SegmentInput("a", "\ud800", ("a",))])
    assert caught.value.index == len(INPUTS)
