"""How many requests an account may send in a minute."""

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from annotation.accounts import tokens
from tests.world import World

LIMIT = 3


@pytest.fixture
def limited(settings: Any) -> None:
    cache.clear()
    settings.API_REQUESTS_PER_MINUTE = LIMIT


def bearer(user: Any) -> dict[str, str]:
    token = tokens.make(user=user, name="script", scopes=["read"], days=1)
    return {"Authorization": f"Bearer {token}", "Accept": "application/json"}


@pytest.mark.parametrize("kind", ["api", "data of a page"])
def test_an_account_has_one_limit_for_all_its_tokens(
    world: World, limited: None, kind: str
) -> None:
    address = {
        "api": "/api/campaigns/",
        "data of a page": f"/campaigns/{world.campaign.slug}/monitor.json",
    }[kind]
    one, two = bearer(world.admin), bearer(world.admin)
    client = Client()
    for _ in range(LIMIT):
        assert client.get(address, headers=one).status_code in (200, 202)
    answer = client.get(address, headers=two)
    assert answer.status_code == 429
    assert 1 <= int(answer["Retry-After"]) <= 60
    told = answer.json()
    code = told["code"] if kind == "api" else told["message"]["code"]
    assert code == "api.too-many-requests"
    assert client.get(address, headers=bearer(world.researcher)).status_code in (200, 202)


def test_visitors_are_counted_by_network(db: None, limited: None) -> None:
    client = Client()
    statuses = [
        client.get("/api/schema/", headers={"X-Forwarded-For": f"10.0.0.{n}"}).status_code
        for n in range(LIMIT + 1)
    ]
    assert statuses[-1] == 429
    assert client.get("/api/schema/", REMOTE_ADDR="10.9.9.9").status_code == 200


def test_no_limit(world: World, settings: Any) -> None:
    settings.API_REQUESTS_PER_MINUTE = 0
    client, headers = Client(), bearer(world.admin)
    assert {client.get("/api/campaigns/", headers=headers).status_code for _ in range(9)} == {200}
