"""A campaign on which every filter acts."""

from collections.abc import Iterator

import pytest

from annotation.models import Campaign
from tests.dashboards.outputs import make_filterable
from tests.shared import SharedRows
from tests.world import World


@pytest.fixture(scope="module")
def filterable(shared_rows: SharedRows[Campaign]) -> Iterator[int]:
    with shared_rows(make_filterable) as made:
        yield made.pk


@pytest.fixture
def campaign(filterable: int, world: World) -> Campaign:
    return Campaign.objects.get(pk=filterable)
