"""A world whose rows other threads see."""

import pytest
from django.contrib.auth.models import Group

from annotation.access import ADMIN, ANNOTATOR, RESEARCHER
from tests.world import World, make_world


@pytest.fixture
def shared_world(transactional_db: None) -> World:
    for name in (ADMIN, RESEARCHER, ANNOTATOR):
        Group.objects.get_or_create(name=name)
    return make_world()
