"""Files of scores for tests, and what a test set is called by."""

from annotation.uploads import InputFile
from tests.world import World


def table(name: str, *lines: str) -> InputFile:
    """A file of lines."""
    return InputFile.holding(name, "".join(f"{line}\n" for line in lines).encode())


def names(world: World) -> tuple[list[str], list[str]]:
    """The systems and segments of the world."""
    systems = list(world.test_set.systems.order_by("name").values_list("name", flat=True))
    segments = list(world.test_set.segments.order_by("position").values_list("key", flat=True))
    return systems, segments
