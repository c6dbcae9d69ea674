"""The children of a worker process, one for each slot: on which GPU each computes."""

import os
from typing import Any

from billiard import current_process
from celery.signals import worker_init, worker_process_init

from metrics.workers.devices import gpu_ids

# A model that no single GPU has room for is spread over the GPUs of a slot.
PER_SLOT = int(os.environ.get("GPUS_PER_SLOT", "1"))


class _Worker:
    # Asked once, before the first child is made.
    gpus: list[str] = []


def find_gpus(**_: Any) -> None:
    """Remember the GPUs that this worker may use."""
    _Worker.gpus = gpu_ids()


def take_gpu(**_: Any) -> None:
    """Give this child the GPUs of its slot; a child that replaces a dead one gets the same GPUs."""
    gpus = gpus_of(current_process().index, _Worker.gpus)
    if gpus is not None:
        os.environ["CUDA_VISIBLE_DEVICES"] = gpus


def gpus_of(slot: int, gpus: list[str], per_slot: int = PER_SLOT) -> str | None:
    """Return the GPUs of a slot, `per_slot` or all: one group after the other, and again from
    the first if there are more slots. Remaining GPUs are not used. None if there is no GPU."""
    if not gpus:
        return None
    n = min(max(per_slot, 1), len(gpus))
    first = slot % (len(gpus) // n) * n
    return ",".join(gpus[first : first + n])


worker_init.connect(find_gpus)
worker_process_init.connect(take_gpu)
