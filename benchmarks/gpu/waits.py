"""Count on a processor how often a program would wait for a GPU.

    python -m benchmarks.gpu.waits [--pairs 500] [--small] [--only CASE …] [--models DIR]

A processor shows no wait, so this module notes which tensors a GPU would hold: what
``Tensor.to(device)`` or ``device=`` returns, parameters of models, and what is computed from them.
Fetches are what the program must wait for: ``cpu``, ``item``, ``tolist``, ``numpy``, a truth value,
and operations whose result has a size that only the GPU knows, such as ``nonzero`` and masks as
indices. Copies are what the program sends and waits for: all that is not sent with
``non_blocking``. Kernels launched inside one operation of torch, such as a backward pass, are not
seen; none of them waits.

The table has one row for each family and each training. Numbers that are equal in both columns do
not grow with the pairs: twice as many pairs were scored in as many batches.
"""

import gc
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from benchmarks.gpu import __main__ as gpu
from benchmarks.gpu import cases, checkpoints
from extensions.neural import lm
from extensions.neural.encoding import encoders, token_vectors
from metrics.options import clean_all
from training.distillation import options as distillation
from training.distillation.level import Distillation
from training.refreeeval import levels, loop, student
from training.refreeeval.data import Pair, examples
from training.refreeeval.recipe import Recipe
from training.translation import likelihood

Tensor = torch.Tensor
MARK = "_would_be_on_a_gpu"
IS_CUDA = Tensor.is_cuda.__get__  # type: ignore[attr-defined]
FETCHES = {
    *("cpu", "item", "tolist", "numpy", "__array__", "__bool__", "__float__", "__int__"),
    *("__index__", "__contains__", "nonzero", "masked_select", "unique", "unique_consecutive"),
    *("equal", "allclose", "is_nonzero", "bincount"),
}
# Pairs that every family scores in one part of its work.
MOST = 256
BUDGETS = (
    (encoders, "TOKENS_PER_BATCH"),
    (lm, "PIECES_PER_BATCH"),
    (likelihood, "TOKENS_PER_BATCH"),
)
Count = tuple[Counter[str], Counter[str]]
MASKED = {"__getitem__", "__setitem__", "index_put_", "index_put"}
HEAD = "case|fetches|copies|fetches, twice the pairs|copies, twice the pairs"


class Waits(TorchFunctionMode):
    """Count within the context; ``fetches`` and ``copies`` count by the name of the operation."""

    def __init__(self) -> None:
        super().__init__()
        self.fetches, self.copies = Counter[str](), Counter[str]()

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        given = list(_tensors((args, kwargs)))
        is_on_gpu = any(map(is_held, given))
        if func == IS_CUDA:
            return is_on_gpu
        found = func(*args, **kwargs)
        if name == "to" and _is_device(args[1:], kwargs):
            self.copies[name] += not is_on_gpu and not kwargs.get("non_blocking")
            is_on_gpu = True
        elif kwargs.get("device") is not None or (name == "new_tensor" and is_on_gpu):
            # All others are filled by a kernel.
            self.copies[name] += name in ("tensor", "as_tensor", "new_tensor")
            is_on_gpu = True
        elif is_on_gpu and name in FETCHES:
            self.fetches[name] += 1
            is_on_gpu = name in ("nonzero", "masked_select", "unique", "bincount")
            # Another object: on a processor, ``cpu`` returns its own tensor.
            found = found.view_as(found) if name == "cpu" else found
        elif is_on_gpu and name in MASKED and is_held(args[0]):
            self._index(name, args[1])
        elif is_on_gpu and name == "repeat_interleave":
            by = args[1] if len(args) > 1 else kwargs.get("repeats")
            self.fetches[name] += isinstance(by, Tensor) and kwargs.get("output_size") is None
        if is_on_gpu:
            for each in _tensors(found):
                setattr(each, MARK, True)
        return found

    def _index(self, name: str, index: Any) -> None:
        for each in index if isinstance(index, tuple) else (index,):
            if isinstance(each, Tensor) and each.dtype == torch.bool and each.dim():
                self.fetches[f"{name} of a mask"] += 1
            elif isinstance(each, list | np.ndarray) or (
                isinstance(each, Tensor) and each.dim() and not is_held(each)
            ):
                self.copies[f"{name} of a list"] += 1


def is_held(tensor: Tensor) -> bool:
    """Return whether a GPU would hold a tensor."""
    return isinstance(tensor, torch.nn.Parameter) or hasattr(tensor, MARK)


def _tensors(value: Any) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Mapping):
        yield from _tensors(list(value.values()))
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _tensors(each)


def _is_device(args: Iterable[Any], kwargs: Mapping[str, Any]) -> bool:
    named = [*args, kwargs.get("device"), kwargs.get("other")]
    return any(
        isinstance(each, str | torch.device) or (isinstance(each, Tensor) and is_held(each))
        for each in named
    )


def waits(work: Callable[[], object]) -> Count:
    """Do some work with models that are loaded; return its fetches and copies."""
    for module in (each for each in gc.get_objects() if issubclass(type(each), torch.nn.Module)):
        for buffer in module.buffers(recurse=False):
            setattr(buffer, MARK, True)
    with Waits() as found:
        work()
    return +found.fetches, +found.copies


def main(arguments: list[str] | None = None) -> int:
    options = gpu.parse(arguments)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    size, n_pairs = checkpoints.SIZES[options.size], min(options.pairs, MOST)
    print(f"{options.size} checkpoints, {n_pairs} pairs\n\n{HEAD}\n---|---|---|---|---")
    is_bounded = True
    with tempfile.TemporaryDirectory() as name:
        wanted = [e for e in cases.cases(size) if e.name in (options.only or [e.name])]
        gpu.build(Path(name), options, wanted)
        for case in wanted:
            counts = of_case(case, Path(name), n_pairs // 2)
            is_bounded &= counts[0] == counts[1]
            print(line(case.name, *counts), flush=True)
        for kind in () if options.only else TRAININGS:
            counts = of_training(kind, Path(name) / "bert", TRAINED)
            is_bounded &= counts[0] == counts[1]
            print(line(f"an update of {kind}", *counts), flush=True)
    return 0 if is_bounded else 1


@contextmanager
def one_batch() -> Iterator[None]:
    """Put all texts of a call into one batch, whatever their lengths."""
    huge = {"cpu": 2**31, "cuda": 2**31}
    with ExitStack() as stack:
        for module, name in BUDGETS:
            stack.enter_context(patch.dict(getattr(module, name), huge))
        stack.enter_context(patch.object(encoders, "MOST_PADDED", 2**31))
        yield


def of_case(case: cases.Case, folder: Path, n_pairs: int) -> tuple[Count, Count]:
    """Score some pairs and twice as many, each in one batch of new texts."""
    inputs = checkpoints.make_inputs(4 * n_pairs)
    # Another case may have encoded these texts.
    encoders.forget()
    token_vectors.forget()
    with one_batch():
        metric = cases.make(case, folder, "float32")
        # Tokenizers and fixed tables are loaded when they are needed first.
        metric.score(inputs[:n_pairs])
        few, many = inputs[n_pairs : 2 * n_pairs], inputs[2 * n_pairs :]
        return waits(lambda: metric.score(few)), waits(lambda: metric.score(many))


def of_training(kind: str, encoder: Path, n_pairs: int) -> tuple[Count, Count]:
    """Count an update on some pairs and one on twice as many, each as the second of a training."""
    given = {"encoder": str(encoder), "teacher": str(encoder), "layer": 2, "negatives": 3}
    recipe = Recipe.from_options({**given, "max_pieces": 48, "evaluate_every": 2})
    learner = student.Student(recipe.encoder, recipe.layer, recipe.max_pieces)
    level: Any = TRAININGS[kind](learner, recipe)

    def count(*sizes: int) -> Count:
        batches = [list(range(size)) for size in sizes]
        level.batches = lambda epoch: batches
        with tempfile.TemporaryDirectory() as folder:
            return waits(lambda: loop.train(level, learner, recipe, Path(folder), lambda _: None))

    with patch.dict(student.LEAST_TOKENS, cpu=2**31):  # one group a pass, as on a GPU
        first, few, many = count(n_pairs), count(n_pairs, n_pairs), count(n_pairs, 2 * n_pairs)
    return (few[0] - first[0], few[1] - first[1]), (many[0] - first[0], many[1] - first[1])


def _sentences(learner: student.Student, recipe: Recipe) -> levels.Level:
    found, _ = examples(_pairs(), recipe)
    cosines = np.random.default_rng(5).random((len(found), recipe.negatives + 1), np.float32)
    return levels.SentenceLevel(learner, recipe, found, found[:4], cosines)


def _words(learner: student.Student, recipe: Recipe) -> levels.Level:
    found, _ = examples(_pairs(), recipe)
    return levels.WordLevel(learner, recipe, _pairs(), found[:4])


def _pairs() -> list[Pair]:
    inputs = checkpoints.make_inputs(4 * TRAINED)
    return [Pair(each.source, each.hypothesis, "de", "en") for each in inputs]


def _distilled(learner: student.Student, recipe: Recipe) -> levels.Level:
    given = clean_all(distillation.OPTIONS, {})
    held = _pairs()[:: checkpoints.SYSTEMS]
    width = learner.model.config.hidden_size
    taught = np.random.default_rng(5).random((len(_pairs()), width), np.float32)
    own = distillation.Recipe.from_options(given)
    return Distillation(learner, own, _pairs(), taught, held, taught[: len(held)])


# Pairs of an update.
TRAINED = 4
TRAININGS: dict[str, Callable[[student.Student, Recipe], levels.Level]] = {
    "ReFreeEval, sentences": _sentences,
    "ReFreeEval, words": _words,
    "distillation": _distilled,
}


def line(name: str, *counts: Count) -> str:
    """A row in Markdown."""
    return "|".join([name, *(str(each.total()) for count in counts for each in count)])


if __name__ == "__main__":
    sys.exit(main())
