"""What a GPU would be given, counted on a processor: every family beside its official package.

    python -m benchmarks.gpu.profile [--pairs 500] [--small] [--only CASE …] [--models DIR]

By `torch.profiler`: operations that a GPU would compute as kernels (views are none), the tokens
computed for a real one, and the share of the time that is arithmetic; the rest is Python, in which
a GPU would wait. Exit status 1 where a family computes more than 1.25 tokens for a real one.
"""

import gc
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch.nn.modules.module import register_module_forward_pre_hook
from torch.profiler import ProfilerActivity, profile

from benchmarks.gpu import __main__ as gpu
from benchmarks.gpu import cases, checkpoints, peers
from benchmarks.gpu.child import PEER_BATCH, forget
from extensions.neural.encoding import encoders

MOST_PADDED = 1.25
# Operations that reserve memory, or read a number that is computed; views are known to torch.
FREE = {
    *("empty", "empty_like", "empty_strided", "new_empty", "resize_", "set_", "_unsafe_view"),
    *("lift_fresh", "_local_scalar_dense", "_has_compatible_shallow_copy_type"),
    *("detach_", "squeeze_", "unsqueeze_", "transpose_", "t_", "as_strided_"),
}
OPERATIONS = frozenset(torch._C._dispatch_get_all_op_names())
COMPOSITE = torch._C.DispatchKey.CompositeImplicitAutograd
WORDS = ("word_embeddings", "wte", "shared")
HEAD = "case|kernels a pair|the package's|tokens for a real one|the package's|arithmetic"


@dataclass(frozen=True)
class Profile:
    """``n_kernels`` and numbers of tokens of a call, and the share of it that was arithmetic."""

    n_kernels: int
    computed: int
    real: int
    busy: float

    @property
    def padding(self) -> float:
        """Tokens computed for a real one; 0 where no ids were looked up."""
        return self.computed / self.real if self.real else 0.0


def main(arguments: list[str] | None = None) -> int:
    options = gpu.parse(arguments)
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    size, is_kept = checkpoints.SIZES[options.size], True
    print(f"{options.size} checkpoints, {options.pairs} pairs\n\n{HEAD}\n---|---|---|---|---|---")
    with tempfile.TemporaryDirectory() as name:
        only = options.only or [each.name for each in cases.cases(size)]
        wanted = [each for each in cases.cases(size) if each.name in only]
        gpu.build(Path(name), options, wanted)
        for case in wanted:
            ours, theirs = both(case, Path(name), options.pairs)
            is_kept &= ours.padding <= MOST_PADDED
            print(line(case.name, ours, theirs, options.pairs), flush=True)
    return 0 if is_kept else 1


def both(case: cases.Case, folder: Path, n_pairs: int) -> tuple[Profile, Profile | None]:
    """Our profile of scoring pairs that nothing was kept of, and the package's."""
    inputs = checkpoints.make_inputs(n_pairs)
    budgets = encoders.TOKENS_PER_BATCH
    with patch.dict(budgets, cpu=budgets["cuda"]):
        metric = cases.make(case, folder, "float32")
    # Tokenizers are loaded when they are needed first.
    metric.score(inputs)
    forget(metric)
    ours = profiled(lambda: metric.score(inputs))
    try:
        peer = peers.make(case, folder, "cpu")
    except ModuleNotFoundError:
        peer = None
    return ours, peer and profiled(lambda: peer(inputs, PEER_BATCH))


def profiled(work: Callable[[], object]) -> Profile:
    """Do some work, and count what it gave the device."""
    with counting() as tokens, profile(activities=[ProfilerActivity.CPU]) as found:
        began = time.perf_counter()
        work()
        seconds = time.perf_counter() - began
    events = [event for event in found.events() if event.name.startswith("aten::")]
    n_kernels = sum(is_kernel(each.name) and not _is_part(each) for each in events)
    busy = sum(event.self_cpu_time_total for event in events) / 1e6 / seconds
    looked_up, real = tokens
    return Profile(n_kernels, looked_up, real, min(1.0, busy))


@cache
def is_kernel(name: str) -> bool:
    """Return whether a GPU computes an operation: not one made of others, and not a view."""
    short = name.removeprefix("aten::")
    packet = getattr(torch.ops.aten, short, None)
    if packet is None or short in FREE or name == short:
        return False
    overloads = [getattr(packet, each) for each in packet.overloads()]
    overloads = [each for each in overloads if each.name() in OPERATIONS]
    if any(each.has_kernel_for_dispatch_key(COMPOSITE) for each in overloads):
        return False
    returned = [each.alias_info for overload in overloads for each in overload._schema.returns]
    return not any(alias is not None and not alias.is_write for alias in returned)


def _is_part(event: Any) -> bool:
    """Return whether an operation is how a processor does a part of another one."""
    parent = event.cpu_parent
    return parent is not None and (is_kernel(parent.name) or _is_part(parent))


@contextmanager
def counting() -> Iterator[list[int]]:
    """Count ids looked up by the models of this process, and those that are not padding."""
    tokens = [0, 0]
    modules = [each for each in gc.get_objects() if issubclass(type(each), torch.nn.Module)]
    words = {
        id(found) for each in modules for name in WORDS if (found := getattr(each, name, None))
    }

    def count(module: torch.nn.Module, given: tuple[Any, ...]) -> None:
        if id(module) in words and given:
            padding = getattr(module, "padding_idx", None)
            tokens[0] += given[0].numel()
            n_padding = 0 if padding is None else int((given[0] == padding).sum())
            tokens[1] += given[0].numel() - n_padding

    hook = register_module_forward_pre_hook(count)
    try:
        yield tokens
    finally:
        hook.remove()


def line(name: str, ours: Profile, theirs: Profile | None, n_pairs: int) -> str:
    """A row in Markdown."""
    cells = [name, f"{ours.n_kernels / n_pairs:.1f}"]
    cells += [f"{theirs.n_kernels / n_pairs:.1f}" if theirs else "–", f"{ours.padding:.2f}"]
    cells += [f"{theirs.padding:.2f}" if theirs else "–", f"{ours.busy:.2f}"]
    return "|".join(cells)


if __name__ == "__main__":
    sys.exit(main())
