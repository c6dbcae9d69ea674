"""The way to an open campaign in five steps, before there is one."""

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Step:
    """A step: `about` says what it is or what it lacks; without an address it cannot be gone to."""

    label: str
    about: str
    address: str = ""
    is_done: bool = False
    is_current: bool = False


FIRST = (
    Step("Texts", "a test set and outputs"),
    Step("Task", "what annotators are asked"),
    Step("People", "who rates, by which links"),
    Step("Try it", "as annotators will see it"),
    Step("Open", "annotators can start"),
)
NAMES = ("texts", "task", "people", "preview", "open")


def first_steps(name: str) -> list[Step]:
    """Return the steps where there is no campaign yet."""
    here = NAMES.index(name)
    return [
        replace(step, is_done=number < here, is_current=number == here)
        for number, step in enumerate(FIRST)
    ]
