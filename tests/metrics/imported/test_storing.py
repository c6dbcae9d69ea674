"""Imported scores in the database: what a second import does, what is refused, what is shown."""

import numpy as np
import pytest
from django.core.exceptions import ValidationError

from metrics import catalogue, imported
from metrics.base import MetricError
from metrics.imported import storing
from metrics.models import ImportedScores, MetricImport, MetricSignature
from metrics.runs import scoring, starting
from metrics.scores import latest_signatures, system_scores
from tests.metrics.imported.files import names
from tests.refusals import refused
from tests.world import World, make_test_set

COMET = "imported-comet-refa"


def row_of(world: World, system: str, *scores: float) -> dict[tuple[str, str], float]:
    """Scores of the first segments of a system."""
    return {(system, key): score for key, score in zip(names(world)[1], scores, strict=False)}


def test_scores_come_back_as_they_came(world: World) -> None:
    """Equal texts may have different scores, as those of a random control have."""
    scores = row_of(world, "strong", 0.1, 1 / 3, -2e300) | row_of(world, "weak", 5.0)
    found = imported.store(world.test_set, "COMET-refA", scores, {"weak": 7.5})
    assert (found.plan.change, found.metric.name) == ("new", COMET)
    measure = system_scores(world.test_set).measures[COMET]
    rows = {s.name: place for place, s in enumerate(system_scores(world.test_set).systems)}
    assert measure.values[rows["strong"]].tolist()[:3] == [0.1, 1 / 3, -2e300]
    assert (measure.n_outputs, measure.n_missing) == (8, 4)
    assert measure.systems is not None
    assert measure.systems[rows["weak"]] == 7.5
    assert np.isnan(measure.systems[rows["strong"]])
    assert (measure.label, measure.origin) == ("COMET-refA (imported)", "imported")


def test_the_same_again_changes_nothing(world: World) -> None:
    scores = row_of(world, "strong", 0.5, 0.25)
    first = imported.store(world.test_set, "COMET-refA", scores, {})
    again = imported.store(world.test_set, "comet-REFA", scores, {})
    assert (again.plan.change, again.row) == ("same", None)
    assert again.signature == first.signature
    counts = [model.objects.count() for model in (MetricImport, MetricSignature, ImportedScores)]
    assert counts == [1, 1, 1]


def test_files_of_one_system_each_add_up_to_the_same_as_one_file(world: World) -> None:
    parts = [row_of(world, "strong", 0.5, 0.25), row_of(world, "weak", 0.125)]
    whole = imported.store(make_test_set("pier"), "COMET-refA", parts[0] | parts[1], {})
    for part in parts:
        found = imported.store(world.test_set, "COMET-refA", part, {})
    assert (found.plan.change, found.plan.n_added) == ("added", 1)
    assert latest_signatures(world.test_set)[COMET] == found.signature
    hashes = [each.signature.signature.rpartition("scores:")[2] for each in (whole, found)]
    assert hashes[0] == hashes[1]
    assert system_scores(world.test_set).measures[COMET].n_missing == 5


def test_other_scores_of_the_same_name_replace_the_stored_ones(world: World) -> None:
    """A mean over two versions of a metric describes neither; the old scores remain stored."""
    old = imported.store(world.test_set, "COMET-refA", row_of(world, "strong", 0.5, 0.25), {})
    found = imported.store(world.test_set, "COMET-refA", row_of(world, "strong", 0.5, 9.0), {})
    assert found.plan.change == "replaced"
    assert found.plan.message.code == "scores.differ"
    assert found.plan.message.parameters == {"n": 1, "stored": 2, "absent": 0}
    found = imported.store(world.test_set, "COMET-refA", row_of(world, "strong", 0.75), {})
    assert system_scores(world.test_set).measures[COMET].n_missing == 7
    assert ImportedScores.objects.filter(signature=old.signature).exists()
    assert latest_signatures(world.test_set)[COMET] == found.signature


def test_scores_that_are_no_longer_shown_are_counted(world: World) -> None:
    stored = row_of(world, "strong", 0.5, 0.25, 0.125)
    imported.store(world.test_set, "COMET-refA", stored, {})
    imported.store(world.test_set, "TER", stored, {})
    found = imported.store(world.test_set, "COMET-refA", row_of(world, "strong", 9.0), {})
    assert found.plan.message.parameters == {"n": 1, "stored": 3, "absent": 2}
    part = row_of(world, "strong", 0.5, 0.25)
    lower = imported.store(world.test_set, "TER", part, {}, higher_is_better=False)
    assert lower.plan.message.code == "scores.direction-differs"
    assert lower.plan.message.parameters == {"absent": 1}


def test_a_withdrawn_metric_is_shown_no_more_and_comes_back(world: World) -> None:
    scores = row_of(world, "strong", 0.5)
    found = imported.store(world.test_set, "COMET-refA", scores, {}, user=world.admin)
    assert storing.withdraw(world.test_set, COMET, user=world.admin) == 1
    assert COMET not in system_scores(world.test_set).measures
    row = MetricImport.objects.get()
    assert (row.created_by, row.withdrawn_by) == (world.admin, world.admin)
    assert row.withdrawn_at is not None
    again = imported.store(world.test_set, "COMET-refA", scores, {})
    assert (again.plan.change, again.signature) == ("new", found.signature)
    assert COMET in system_scores(world.test_set).measures


def test_the_other_direction_is_another_metric_in_its_place(world: World) -> None:
    scores = row_of(world, "strong", 0.5)
    imported.store(world.test_set, "TER", scores, {})
    elsewhere = make_test_set("pier")
    imported.store(elsewhere, "TER", scores, {})
    found = imported.store(world.test_set, "TER", scores, {}, higher_is_better=False)
    assert found.plan.change == "replaced"
    assert found.plan.message.code == "scores.direction-differs"
    measures = system_scores(world.test_set).measures
    assert {key: each.higher_is_better for key, each in measures.items()} == {
        "imported-ter-lower": False
    }
    assert list(system_scores(elsewhere).measures) == ["imported-ter"]


@pytest.mark.parametrize(
    ("segments", "systems", "wanted"),
    [
        ({("other", "1"): 1.0}, {}, "scores.unknown-systems"),
        ({("strong", "99"): 1.0}, {}, "scores.unknown-segments"),
        ({("strong", "1"): float("inf")}, {}, "scores.infinite-refused"),
        ({}, {"strong": float("-inf")}, "scores.infinite-refused"),
        ({("strong", "1"): float("nan")}, {}, "scores.none"),
        ({}, {}, "scores.none"),
    ],
)
def test_what_does_not_fit_is_refused(
    world: World, segments: dict[tuple[str, str], float], systems: dict[str, float], wanted: str
) -> None:
    with refused(wanted):
        imported.store(world.test_set, "COMET", segments, systems)
    assert not MetricImport.objects.exists()
    assert not MetricSignature.objects.exists()


def test_an_output_that_is_not_there_has_no_score(world: World) -> None:
    world.test_set.systems.get(name="weak").outputs.filter(segment__key="2").delete()
    with refused("scores.unknown-outputs"):
        imported.store(world.test_set, "COMET", row_of(world, "weak", 1.0, 2.0), {})


@pytest.mark.parametrize("name", ["", "  ", "x" * 61, "a\nb", "a\x00"])
def test_names_that_no_metric_can_have(world: World, name: str) -> None:
    with pytest.raises(ValidationError):
        imported.store(world.test_set, name, row_of(world, "strong", 1.0), {})


def test_names_that_look_alike_in_the_catalogue_stay_apart(world: World) -> None:
    scores = row_of(world, "strong", 1.0)
    found = [
        imported.store(world.test_set, name, scores, {}).metric.name
        for name in ("a b", "a_b", "度量", "指标")
    ]
    assert found == ["imported-a-b", "imported-a-b-2", "imported-metric", "imported-metric-2"]


def test_lengths_tell_systems_of_one_name_apart(db: None) -> None:
    from tests.world import add_system

    test_set = make_test_set("pier", systems=["strong"])
    add_system(test_set, "strong", "0.50")
    with refused("scores.unknown-systems"):
        imported.store(test_set, "COMET", {}, {"strong": 1.0})
    found = imported.store(test_set, "COMET", {}, {"strong@0.8": 1.0, "strong@0.5": 2.0})
    assert sorted(found.plan.held.systems.values()) == [1.0, 2.0]


def test_it_is_shown_with_our_own_metric_and_cannot_be_run(world: World) -> None:
    [run] = starting.start(test_set=world.test_set, metrics=["chrf"], enqueue=False).runs
    scoring.drain(run.pk, worker="test")
    imported.store(world.test_set, "chrF", row_of(world, "strong", 0.5), {"strong": 60.0})
    labels = [each.label for each in system_scores(world.test_set).measures.values()]
    assert labels == ["chrF", "chrF (imported)"]
    assert "imported-chrf" not in catalogue.infos()
    assert "imported-chrf" in catalogue.infos(retired=True)
    assert not catalogue.retire("imported-chrf")
    started = starting.start(test_set=world.test_set, metrics=["imported-chrf"], enqueue=False)
    [refusal] = started.refused
    assert refusal.parameters == {"metric": "chrF (imported)"}
    with pytest.raises(MetricError) as error:
        catalogue.load("imported-chrf", source_language="zh", target_language="en")
    assert error.value.message == refusal
