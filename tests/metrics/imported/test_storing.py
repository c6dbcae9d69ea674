"""Imported scores in the database."""

from metrics import imported
from metrics.models import ImportedScores
from tests.world import World


def names(world: World) -> tuple[list[str], list[str]]:
    """The systems and segments of the world."""
    systems = list(world.test_set.systems.order_by("name").values_list("name", flat=True))
    segments = list(world.test_set.segments.order_by("position").values_list("key", flat=True))
    return systems, segments


def test_one_row_a_system(world: World) -> None:
    systems, segments = names(world)
    scores = {(systems[0], key): float(place) for place, key in enumerate(segments)}
    found = imported.store(world.test_set, "COMET-refA", scores, {systems[1]: 0.5})
    assert found.plan.change == "new"
    assert found.metric.name == "imported-comet-refa"
    assert ImportedScores.objects.count() == 2
    assert found.signature.signature.startswith("imported-comet-refa|origin:imported|test_set:")
