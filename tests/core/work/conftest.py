"""A kind of work for tests: its rows say what befalls whoever does them."""

from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import pytest
from django.db import connection, models

from core.work.kinds import Lease, WorkKind
from core.work.models import Work, kind_named


class Errand(Work):
    """Work that is done `times` times."""

    times = models.PositiveIntegerField(default=0)

    class Meta:
        app_label = "config"


class Errands(WorkKind[Errand]):
    name = "errand"
    model = Errand
    act: ClassVar[Callable[[Errand, Lease], object]] = staticmethod(lambda row, lease: None)
    ends: ClassVar[list[int]] = []

    def do(self, row: Errand, lease: Lease) -> None:
        Errand.objects.filter(pk=row.pk).update(times=models.F("times") + 1)
        type(self).act(row, lease)

    def ended(self, row: Errand) -> None:
        self.ends.append(row.pk)


errands = Errands()


@pytest.fixture(scope="session")
def errand_table(django_db_setup: None, django_db_blocker: Any) -> Iterator[None]:
    with django_db_blocker.unblock():
        with connection.schema_editor() as editor:
            editor.create_model(Errand)
        yield
        with connection.schema_editor() as editor:
            editor.delete_model(Errand)


@pytest.fixture
def kind(
    errand_table: None, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> Iterator[type[Errands]]:
    settings.WORK_KINDS = {"errand": "tests.core.work.conftest.errands"}
    kind_named.cache_clear()
    monkeypatch.setattr(Errands, "act", Errands.act)
    Errands.ends.clear()
    yield Errands
    kind_named.cache_clear()
