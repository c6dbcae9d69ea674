"""The benchmarks measure what the documentation says: like against like, over what users have."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest

from annotation.campaigns import add_annotators, open_campaign
from annotation.imports import DATASETS
from annotation.imports.published.human import wmt21
from annotation.models import Assignment, Item, Judgment
from benchmarks import crowd
from benchmarks.dashboards import documents as dashboards
from benchmarks.metaeval import significance as significance
from tests.world import World


def test_a_judgment_between_two_measurements_is_a_revision(world: World) -> None:
    add_annotators(campaign=world.campaign, users=world.annotators)
    open_campaign(campaign=world.campaign)
    assignment = Assignment.objects.filter(annotator__campaign=world.campaign).first()
    rows = Judgment.objects.filter(assignment=assignment)
    Judgment.objects.create(assignment=assignment, score=80, submit_key=uuid4())
    dashboards.answer(world.campaign, 0)
    told = rows.order_by("revision").values_list("revision", "score", "is_current")
    assert list(told) == [(1, 80, False), (2, 40, True)]


def test_crowds_are_multiplied_hit_by_hit(data_dir: Path) -> None:
    [pair] = DATASETS["wmt21"].pairs(data_dir, ["ru-en"])
    one, _ = wmt21(pair)
    test_set, campaign = crowd.multiplied(data_dir, wanted=15_000, workers=100)
    assert len(campaign.items) == len(campaign.judgments) >= 15_000
    assert len({given.annotator for given in campaign.judgments}) == 100
    assert len(test_set.segments) == 2 * len(one.segments)
    keys = {segment.key for segment in test_set.segments}
    assert len(keys) == len(test_set.segments)
    for item in campaign.items:
        assert item.segment in keys
        partner = None if item.partner is None else campaign.items[item.partner]
        assert partner is None or (partner.batch, partner.segment) == (item.batch, item.segment)
    # Every HIT is of one worker, whole, with the kinds that it has in the data.
    whose = {(item.batch, given.annotator) for item, given in pairs(campaign)}
    assert len(whose) == len({batch for batch, _ in whose})
    kinds = Counter(item.kind for item in campaign.items)
    assert set(kinds) == {Item.Kind.TARGET, Item.Kind.BAD_REF, Item.Kind.REPEAT, Item.Kind.REF}


def pairs(campaign: Any) -> Iterator[tuple[Any, Any]]:
    """Items with their judgment; every item has one."""
    return ((campaign.items[given.item], given) for given in campaign.judgments)


@pytest.mark.parametrize("n_flips", [None, 1000])
def test_soft_pairwise_accuracy_is_measured_against_a_loop_of_equal_flips(
    n_flips: int | None,
) -> None:
    data = significance.scores(4, 30, 2)
    _, expected = significance.one_by_one(data, n_flips)
    if n_flips is None:
        measure = significance.Measure("soft_pairwise_accuracy")
        _, found = significance.ours(data, measure, significance.PART - 1)
        # Single precision, in the default.
        assert found[0] == pytest.approx(expected, abs=1e-6)
    else:
        _, found = significance.with_flips(data)
        assert found == pytest.approx(expected, abs=1e-12)


def test_real_scores_tie() -> None:
    """Real scores tie; made-up scores without ties are another case."""
    data = significance.real(4, 270)
    assert data.valid.all()
    assert data.human.shape == (4, 270)
    assert len(data.names) == 13
    # Half of all outputs have no error or one of a few penalties.
    assert len(np.unique(data.human)) < 270
    assert len(np.unique(significance.scores(4, 270, 1).human)) == 4 * 270


def test_word_loss_is_measured_against_both_loops() -> None:
    torch = pytest.importorskip("torch")
    from benchmarks.training.encoders import by_index, one_by_one
    from training.refreeeval import losses

    generator = torch.Generator().manual_seed(2)
    source, target = (torch.randn(2, n, 8, generator=generator) for n in (5, 6))
    real = torch.ones(2, 5).bool(), torch.ones(2, 6).bool()
    aligned, allowed = losses.guide(source, target, *real, 0.1, 1e-3)
    ours = losses.alignment(source, target, *real, aligned, allowed)
    for loop in (by_index, one_by_one):
        assert loop(source, target, aligned, allowed).item() == pytest.approx(ours.item(), abs=1e-6)
