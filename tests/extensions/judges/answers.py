"""What the tests' server answers to the built-in templates, well and badly."""

import json
import re
from collections.abc import Callable
from typing import Any

from metrics.models import (
    MetricSignature,
)
from metrics.scores import load_scores
from tests.extensions.judges.server import Answer, prompt_of
from tests.world import World


def output_of(asked: dict[str, Any]) -> str:
    """The translation that a question of the built-in templates shows."""
    return re.search(r"to judge:\n(.*)\n", prompt_of(asked))[1]  # type: ignore[index]


def score_by_length(asked: dict[str, Any], times: int) -> Answer:
    if "to judge" not in prompt_of(asked):  # the probe
        return Answer('{"score": 50}')
    return Answer(json.dumps({"score": len(output_of(asked)) % 101}))


def scores(world: World, column: int = 0) -> dict[str, float]:
    """The scores by text."""
    signature = MetricSignature.objects.get(metric="judge-a")
    systems = list(world.test_set.systems.all())
    outputs = [output for system in systems for output in system.outputs.all()]
    rows = load_scores(signature, systems, [output.content_key for output in outputs])
    return {each.text: row[column] for each, row in zip(outputs, rows, strict=True)}


def bad(**fields: Any) -> Callable[[dict[str, Any], int], Answer]:
    """A server that answers badly about one text, whenever it is asked."""

    def respond(asked: dict[str, Any], times: int) -> Answer:
        is_one = "to judge" in prompt_of(asked) and output_of(asked) == bad.text  # type: ignore[attr-defined]
        return Answer(**fields) if is_one else score_by_length(asked, times)

    return respond
