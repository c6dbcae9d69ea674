"""The Celery app. Its settings are Django's, under the prefix CELERY_."""

import os

from celery import Celery
from celery.signals import worker_init
from kombu.transport import TRANSPORT_ALIASES

from config import garbage
from core.work import brokers

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

TRANSPORT_ALIASES.update(brokers.TRANSPORTS)
app = Celery("touchstone")
app.config_from_object("django.conf:settings", namespace="CELERY")


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
    from core.work import registry

    list(registry.every())
    redact("")
    garbage.leave_out()
