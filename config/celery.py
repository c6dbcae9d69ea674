"""The Celery app and the start of workers. Its settings are Django's with the prefix CELERY_."""

import os

from celery.signals import worker_init

from core import gc_tuning
from core.work.brokers import app

__all__ = ["app"]


@worker_init.connect  # type: ignore[untyped-decorator]
def refuse_unsafe_loading(**_: object) -> None:
    """Refuse to start a worker that would unpickle checkpoints."""
    if os.environ.get("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "0") not in ("", "0"):
        raise SystemExit("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD is set: checkpoints could run code.")


@worker_init.connect  # type: ignore[untyped-decorator]
def load_before_threads(**_: object) -> None:
    """Load kinds of work, and the addresses that logs are redacted by, before there are threads.

    Two that import the same modules at once, in another order, may find one half loaded: where that
    was the supervisor's thread, no child that died was ever replaced.
    """
    from config.redaction import redact
    from core.work.models import all_kinds

    list(all_kinds())
    redact("")
    gc_tuning.freeze()
