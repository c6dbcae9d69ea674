"""What trainings learned, and whether to use it, from results as jobs store them."""

from typing import Any

import pytest

from metaeval.messages import message
from training.jobs.presenting import described
from training.models import TrainingJob
from training.verdicts import UNDETERMINED, verdict_of

HEAD = {"campaign": "port", "encoder": "acme/x"}


def refreeeval(**gain: float) -> dict[str, Any]:
    return {
        "encoder": {"name": "acme/x"},
        "data": {"train": 1800},
        "held_out": {"n": 100, "untrained": 0.5, "trained": 0.75, "gain": 0.25, **gain},
    }


def distilled(low: float, high: float) -> dict[str, Any]:
    """The gain of one direction has this interval, that of the other is clear."""
    shares = {"untrained": 0.5, "trained": 0.75, "gain": 0.25}
    return {
        "encoder": {"name": "acme/x"},
        "teacher": {"name": "acme/y"},
        "data": {"train": 1800},
        "held_out": {
            "n": 100,
            "into_other": shares | {"low": 0.1, "high": 0.4},
            "from_other": shares | {"low": low, "high": high},
        },
    }


def pair_curve(low: float | None, high: float | None) -> dict[str, Any]:
    """Without a projection, then two of all pairs, of which the second is better."""
    row = {"projection": "", "pairs": 0, "r": 0.2, "gain_low": None, "gain_high": None}
    clp = row | {"projection": "clp", "pairs": 90, "r": 0.3, "gain_low": 0.01, "gain_high": 0.02}
    umd = clp | {"projection": "umd", "r": 0.4, "gain_low": low, "gain_high": high}
    return {
        "encoder": {"name": "acme/x"},
        "layer": 8,
        "human": {"outputs": 70},
        "correlations": [row, clp | {"pairs": 10, "r": 0.5}, clp, umd],
    }


def remap(before: float, after: float) -> dict[str, Any]:
    return {
        "encoder": {"name": "acme/x"},
        "layer": 8,
        "pairs_of_vectors": 900,
        "held_out": {
            "before": {"found": before, "compared": 100},
            "after": {"found": after, "compared": 100},
        },
    }


def head(**gain: float) -> dict[str, Any]:
    values = {
        "head": {"value": 0.5},
        "unsupervised": {"value": 0.4},
        "gain": {"value": 0.1, **gain},
    }
    return {"n_train": 30, "n_held_out": 10, "held_out": {"pearson": values}}


def sentinel(**ends: float) -> dict[str, Any]:
    return {"n_outputs": 40, "held_out": {"pearson": {"sentinel": {"value": 0.2, **ends}}}}


def mt(updates: int) -> dict[str, Any]:
    held = {"chrf": 28.4, "length_error": 0.12}
    return {
        "held_out": held,
        "languages": "zh-en",
        "updates": updates,
        "updates_of_kept_weights": 2000,
    }


@pytest.mark.parametrize(
    ("kind", "options", "result", "use", "code"),
    [
        ("refreeeval", {}, refreeeval(low=0.05, high=0.4), True, "verdict.better"),
        ("refreeeval", {}, refreeeval(low=-0.05, high=0.4), False, "verdict.no-gain"),
        ("refreeeval", {}, refreeeval(low=-0.5, high=-0.1), False, "verdict.worse"),
        ("refreeeval", {}, refreeeval(), None, "verdict.uncertain"),
        ("distillation", {}, distilled(0.05, 0.4), True, "verdict.better"),
        ("distillation", {}, distilled(-0.05, 0.4), False, "verdict.no-gain"),
        ("distillation", {}, distilled(-0.4, -0.05), False, "verdict.worse"),
        ("head", HEAD, head(low=0.01, high=0.2), True, "verdict.better"),
        ("head", HEAD, head(), None, "verdict.uncertain"),
        ("sentinel", HEAD | {"reads": "output"}, sentinel(low=0.1, high=0.3), True,
         "verdict.sentinel-baseline"),
        ("sentinel", HEAD | {"reads": "lengths"}, sentinel(low=-0.1, high=0.3), False,
         "verdict.sentinel-nothing"),
        ("sentinel", HEAD | {"reads": "source"}, sentinel(), None, "verdict.sentinel-uncertain"),
        ("pair-curve", {"campaign": "port"}, pair_curve(0.1, 0.3), True, "verdict.better"),
        ("pair-curve", {"campaign": "port"}, pair_curve(-0.1, 0.3), False, "verdict.no-gain"),
        ("pair-curve", {"campaign": "port"}, pair_curve(None, None), None, "verdict.uncertain"),
        ("remap", {}, remap(0.2, 0.5), True, "verdict.better"),
        ("remap", {}, remap(0.5, 0.6), False, "verdict.no-gain"),
        ("remap", {}, remap(0.5, 0.5), False, "verdict.no-gain"),
        ("remap", {}, remap(0.5, 0.2), False, "verdict.worse"),
        ("remap", {}, remap(0.2, 0.5) | {"held_out": {}}, None, "verdict.projection-unmeasured"),
        ("mt", {}, mt(2000), False, "verdict.translation-longer"),
        ("mt", {}, mt(4000), None, "verdict.translation-read"),
    ],
)  # fmt: skip
def test_the_last_sentence_says_whether_to_use_it(
    kind: str, options: dict[str, Any], result: dict[str, Any], use: bool | None, code: str
) -> None:
    verdict = verdict_of(kind, options, result, [])
    assert verdict is not None
    assert (verdict.use, verdict.sentences[-1].code) == (use, code)
    assert len(verdict.sentences) <= 3


def test_a_projection_that_the_data_do_not_determine_is_not_used() -> None:
    verdict = verdict_of("remap", {}, remap(0.2, 0.5), [message(UNDETERMINED, "Too little.")])
    assert verdict is not None
    assert (verdict.use, verdict.sentences[-1].code) == (False, "verdict.projection-undetermined")


@pytest.mark.parametrize("kind", ["refreeeval", "mt", "preferences", "of-a-plug-in"])
def test_a_result_of_an_earlier_version_has_no_verdict(kind: str) -> None:
    assert verdict_of(kind, {}, {"n": 3}, []) is None


def test_programs_get_codes_names_and_values() -> None:
    warning = {"code": "a.b", "pattern": "One.", "parameters": {}}
    result = refreeeval(low=0.05, high=0.4) | {"warnings": [warning], "recipe": {"seed": 1}}
    found = described(TrainingJob(kind="refreeeval", name="x", result=result))
    assert found["use"] is True
    assert [each["code"] for each in found["warnings"]] == ["a.b"]
    values = {each["code"]: (each["label"]["code"], each["value"]) for each in found["values"]}
    assert values["held_out.trained"] == ("result.trained", 0.75)
    assert "warnings" not in values
    assert "recipe.seed" not in values
