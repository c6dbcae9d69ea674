"""Length inputs of decoders, against the specification and explicit formulas."""

import math
from typing import Any

import pytest
import torch

from tests.training.translation.copying import SMALL
from training.translation.learning import marian
from training.translation.learning.marian import Step
from training.translation.options import OPTIONS

WIDTH = 6


def test_d2_remaining_and_nothing_behind_the_end(checks: dict[str, Any]) -> None:
    left = marian.remaining(torch.tensor([3, 101]), torch.arange(6), cap=100)
    assert left[0].tolist() == [*checks["D2-remaining"]["expected"]["L3"], 0, 0]
    assert left[1, :3].tolist() == checks["D2-remaining"]["expected"]["L101_first_three_capped"]


def test_d3_countdown(checks: dict[str, Any]) -> None:
    check = checks["D3-remaining-sinusoid"]
    found = marian.countdown(torch.tensor(check["inputs"]["r"]), check["inputs"]["d"])
    expected = torch.tensor(check["expected"])
    torch.testing.assert_close(found, expected, atol=check["tolerance"], rtol=0)


def test_d4_projector(checks: dict[str, Any]) -> None:
    given = checks["D4-length-projector"]["inputs"]
    module = marian.Projector(2, cap=5)
    with torch.no_grad():
        module.table.weight[2] = torch.tensor(given["length_embedding"])
        module.projection.weight.copy_(torch.tensor(given["W"]))
        module.projection.bias.copy_(torch.tensor(given["b"]))
    words = torch.tensor(given["word_plus_position"]).reshape(1, 1, 2)
    step = Step(words, torch.zeros(1, 2), torch.tensor([2]), torch.tensor([1]), False)
    expected = torch.tensor(checks["D4-length-projector"]["expected"])
    torch.testing.assert_close(module(step).flatten(), expected)


def ldpe(length: int, position: int, j: int) -> float:
    angle = (length - position) / 10000 ** (2 * (j // 2) / WIDTH)
    return math.cos(angle) if j % 2 else math.sin(angle)


def lrpe(length: int, position: int, j: int) -> float:
    angle = position / length ** (2 * (j // 2) / WIDTH)
    return math.cos(angle) if j % 2 else math.sin(angle)


def pre(length: int, position: int, j: int) -> float:
    angle = min(1, position / length) * WIDTH / 2 * 2 * (j // 2) / WIDTH
    return math.sin(angle) if j % 2 else math.cos(angle)


@pytest.mark.parametrize(
    ("function", "formula"),
    [(marian.difference, ldpe), (marian.ratio, lrpe), (marian.progress, pre)],
)
def test_encodings_from_the_field(function: Any, formula: Any) -> None:
    lengths, positions = [1, 4, 9], range(6)
    found = function(torch.tensor(lengths), torch.arange(6), WIDTH)
    expected = [[[formula(n, t, j) for j in range(WIDTH)] for t in positions] for n in lengths]
    torch.testing.assert_close(found, torch.tensor(expected), atol=1e-6, rtol=0)


@pytest.mark.parametrize("name", marian.SIGNALS)
def test_signals_differ_with_the_length_and_keep_words(name: tuple[str, str]) -> None:
    module = marian.build_controls(*name, WIDTH, 100).eval()
    words, places = torch.randn(1, 3, WIDTH), torch.randn(3, WIDTH)
    short, long, again = (
        module(Step(words, places, torch.tensor([n]), torch.arange(3), False)) for n in (3, 8, 3)
    )
    assert not torch.allclose(short, long)
    assert torch.equal(short, again)


def test_progress_is_noisy_in_training_alone() -> None:
    module = marian.build_controls("progress-ratio", "", WIDTH, 100)
    step = Step(torch.zeros(1, 4, WIDTH), torch.zeros(4, WIDTH), torch.tensor([9]),
                torch.arange(4), True)  # fmt: skip
    assert not torch.equal(module(step), module(step))


@pytest.mark.parametrize("form", ["encoding", "forward-backward"])
def test_words_reach_the_layers_as_units(form: str) -> None:
    """However often a form multiplies them by √d: else the sinusoid is lost beside them."""
    options = {option.name: option.default for option in OPTIONS} | SMALL | {"form": form}
    options |= {"control": "target-embedding", "width": 64}
    decoder = marian.build(options, 500, {"end": 0, "padding": 499}).model.decoder
    pieces = torch.arange(1, 499)[None]
    words = decoder.embed_tokens(pieces) * decoder.scale
    zeros = torch.zeros(498, 64)
    step = Step(words, zeros, torch.tensor([1]), torch.arange(498) + 2, False)
    rest = Step(words * 0, zeros, torch.tensor([1]), torch.arange(498) + 2, False)
    found = decoder.control(step) - decoder.control(rest)
    assert float(found.detach().std()) == pytest.approx(1.0, abs=0.05)
