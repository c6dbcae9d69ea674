"""No family and no training waits for a GPU more often when a batch has more pairs."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from benchmarks.gpu import cases, checkpoints, waits
from extensions.neural.mover import mapping

SMALL = checkpoints.SIZES["small"]
# At the most in a batch: transformers asks once if a mask is needed, xCOMET reads three inputs.
MOST_FETCHES, MOST_COPIES = 8, 1


def of_options() -> list[cases.Case]:
    """Every case, and options that add work for each text or pair."""
    known = {case.name: case for case in cases.cases(SMALL)}
    mover, likelihood = known["XMoverScore"], known["Likelihood"]
    added = (
        ("XMoverScore, head", mover, {"definition": "head-2022"}),
        ("XMoverScore, paper", mover, {"definition": "paper"}),
        ("XMoverScore, idf", mover, {"idf-source": "corpus", "idf-target": "corpus"}),
        ("XMoverScore, mapped", mover, {"mapping": "mapping"}),
        ("MoverScore v1, idf", known["MoverScore"], {"version": "v1", "idf-reference": "corpus"}),
        ("Cosine, mapped", known["Cosine"], {"mapping": "last"}),
        ("Cosine, language model", known["Cosine"], {"language-model": "gpt2"}),
        ("Likelihood, back", likelihood, {"direction": "output to reference"}),
    )
    changed = [
        replace(case, name=name, options={**case.options, **options})
        for name, case, options in added
    ]
    return [*known.values(), *changed]


@pytest.fixture(scope="module")
def given(folder: Path) -> Callable[[cases.Case], cases.Case]:
    """Make the files that options name, and put their paths into a case."""
    from extensions.neural.encoding import encoders

    texts = checkpoints.texts_of(checkpoints.make_inputs(8))
    (folder / "corpus").write_text("\n".join(texts) + "\n", encoding="utf-8")
    for name, checkpoint, layer in (
        ("mapping", "xlmr", SMALL.layer),
        ("last", "bert", SMALL.layers),
    ):
        model = encoders.get(str(folder / checkpoint)).model
        about = mapping.About(
            "clp", checkpoint, mapping.fingerprint(model), layer, "de", "en", 0, "data"
        )
        rows = np.random.default_rng(5).standard_normal((2, 60, SMALL.width))
        mapping.fit("clp", about, *rows).save(folder / name)
    encoders.forget()
    files = {"corpus", "mapping", "last", "gpt2"}

    def fill(case: cases.Case) -> cases.Case:
        options = {
            name: str(folder / value) if value in files else value
            for name, value in case.options.items()
        }
        return replace(case, options=options)

    return fill


@pytest.mark.parametrize("case", of_options(), ids=lambda case: case.name)
def test_a_family_waits_per_batch_and_not_per_pair(
    case: cases.Case, folder: Path, given: Callable[[cases.Case], cases.Case]
) -> None:
    few, many = waits.of_case(given(case), folder, 8)
    assert few == many
    fetches, copies = many
    assert 0 < fetches.total() <= MOST_FETCHES
    assert copies.total() <= MOST_COPIES


@pytest.mark.parametrize("kind", waits.TRAININGS)
def test_an_update_waits_once_for_its_losses(kind: str, folder: Path) -> None:
    """Beside what transformers asks in each forward pass."""
    few, many = waits.of_training(kind, folder / "bert", waits.TRAINED)
    assert few == many
    fetches, copies = many
    assert not copies
    assert fetches["tolist"] == 1
    n_passes = 2 if kind == "ReFreeEval, words" else 1
    assert fetches.total() == 1 + n_passes


CPU = torch.device("cpu")


def held() -> Any:
    return torch.arange(3.0).to(CPU)


@pytest.mark.parametrize(
    ("work", "fetches", "copies"),
    [
        (lambda: held().cpu().tolist(), {"cpu": 1}, {"to": 1}),
        (lambda: [float(each) for each in held()], {"__float__": 3}, {"to": 1}),
        (lambda: bool((held() * 2 > 5).any()), {"__bool__": 1}, {"to": 1}),
        (lambda: (held() + 1).sum().item(), {"item": 1}, {"to": 1}),
        (lambda: held()[held() > 1], {"__getitem__ of a mask": 1}, {"to": 2}),
        (lambda: held()[[0, 2]], {}, {"to": 1, "__getitem__ of a list": 1}),
        (lambda: held()[1:][0], {}, {"to": 1}),
        (lambda: torch.nonzero(torch.ones(3, device=CPU)), {"nonzero": 1}, {}),
        (lambda: torch.tensor([1, 2], device=CPU), {}, {"tensor": 1}),
        (lambda: torch.arange(3).to(CPU, non_blocking=True), {}, {}),
        (lambda: torch.arange(3).tolist(), {}, {}),
        (lambda: torch.nn.Linear(2, 2)(torch.ones(1, 2)).tolist(), {"tolist": 1}, {}),
    ],
)
def test_what_a_program_waits_for(
    work: Callable[[], object], fetches: dict[str, int], copies: dict[str, int]
) -> None:
    found = waits.waits(work)
    assert found == (fetches, copies)
