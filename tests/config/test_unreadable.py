"""NUL characters and numbers beyond every column are refused, on any database."""

import pytest
from django.test import Client

from tests.world import World

HUGE = "9" * 30


@pytest.fixture
def careful(client: Client) -> Client:
    """A client that sees what a browser sees where a view fails."""
    client.raise_request_exception = False
    return client


@pytest.mark.parametrize(
    "address",
    [
        "/login/?next=%00",
        "/enter/%00/",
        "/campaigns/%00/",
        "/campaigns/?q=%00",
        "/api/judgments/?campaign=%00",
        "/api/test-sets/?%00=1",
    ],
)
def test_nul_is_refused_with_a_sentence(world: World, careful: Client, address: str) -> None:
    careful.force_login(world.admin)
    answer = careful.get(address)
    assert answer.status_code == 400
    assert "NUL character" in answer.content.decode()
    as_json = careful.get(address, headers={"Accept": "application/json"})
    assert as_json.status_code == 400
    assert "NUL character" in as_json.json()["error"]


@pytest.mark.django_db
def test_nul_is_refused_before_sign_in(careful: Client) -> None:
    assert careful.get("/login/?next=%00").status_code == 400


@pytest.mark.parametrize(
    "address",
    [
        f"/api/judgments/{HUGE}/",
        f"/api/runs/{HUGE}/",
        f"/api/jobs/{HUGE}/",
        f"/api/judgments/?limit={HUGE}&offset={HUGE}",
        f"/runs/{HUGE}/",
        f"/training/{HUGE}/",
        f"/admin/annotation/campaign/{HUGE}/change/",
    ],
)
def test_numbers_beyond_every_column_are_no_failure(
    world: World, careful: Client, address: str
) -> None:
    careful.force_login(world.admin)
    assert careful.get(address).status_code < 500
