"""Several processes, as `torchrun` starts them; alone, everything here does nothing."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeVar

import torch
from torch import distributed

from metaeval.messages import message
from training.contract import JobError

T = TypeVar("T")
# The others wait while the first has the teacher read; torchrun ends them where one fails.
PATIENCE = timedelta(hours=12)


def rank() -> int:
    """Return the number of this process among those of `torchrun`; 0 without it."""
    return distributed.get_rank() if distributed.is_initialized() else 0


def world() -> int:
    """Return the number of processes."""
    return distributed.get_world_size() if distributed.is_initialized() else 1


@contextmanager
def joined() -> Iterator[None]:
    """Join the processes that `torchrun` started; each has a GPU of its own where there are any."""
    if "RANK" not in os.environ:
        yield
        return
    has_gpu = torch.cuda.is_available()
    if has_gpu:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    distributed.init_process_group("nccl" if has_gpu else "gloo", timeout=PATIENCE)
    try:
        yield
    finally:
        distributed.destroy_process_group()


def wait() -> None:
    """Wait until every process is here."""
    if distributed.is_initialized():
        distributed.barrier()


def first_alone(work: Callable[[], T]) -> T:
    """Let the first process compute what is stored in a file, before the others read it."""
    if rank() == 0:
        done = work()
        wait()
        return done
    wait()
    return work()


def sum_gradients(model: torch.nn.Module) -> None:
    """Add up the gradients of all processes."""
    if not distributed.is_initialized():
        return
    waiting = []
    for parameter in model.parameters():
        if parameter.grad is None:
            parameter.grad = torch.zeros_like(parameter)
        waiting.append(distributed.all_reduce(parameter.grad, async_op=True))
    for each in waiting:
        each.wait()


def check_equal(model: torch.nn.Module) -> None:
    """Raise JobError if the weights of the processes differ, as with a faulty GPU."""
    if not distributed.is_initialized():
        return
    sums = torch.stack([each.detach().double().sum() for each in model.parameters()])
    others = [torch.empty_like(sums) for _ in range(world())]
    distributed.all_gather(others, sums)
    if any(not torch.equal(each, sums) for each in others):
        raise JobError(
            message(
                "refreeeval.weights-differ",
                "The processes have different weights, so one of them computes wrong results. "
                "Check "
                "the GPUs.",
            )
        )
