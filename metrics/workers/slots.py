"""The children of a worker process, one for each slot: on which GPU each computes."""

import os
from typing import Any

from billiard import current_process
from celery.signals import worker_init, worker_process_init

from metrics.workers.devices import gpu_ids


class _Worker:
    # Asked once, before the first child is made.
    gpus: list[str] = []


def find_gpus(**_: Any) -> None:
    """Remember the GPUs that this worker may use."""
    _Worker.gpus = gpu_ids()


def take_gpu(**_: Any) -> None:
    """Give this child the GPU of its slot; a child that takes a dead one's slot takes its GPU."""
    gpu = gpu_of(current_process().index, _Worker.gpus)
    if gpu is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpu


def gpu_of(slot: int, gpus: list[str]) -> str | None:
    """Return the GPU of a slot: one after the other, and again from the first where slots are
    more. None where there is no GPU."""
    return gpus[slot % len(gpus)] if gpus else None


worker_init.connect(find_gpus)
worker_process_init.connect(take_gpu)
