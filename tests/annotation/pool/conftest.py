"""A world whose rows other threads see."""

import pytest

from tests.world import World, make_world


@pytest.fixture
def shared_world(transactional_db: None) -> World:
    return make_world()
