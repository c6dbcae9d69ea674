"""Tokens: what each scope opens, how they end, and that they are shown once and stored nowhere."""

import io
import logging
import re
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotation.accounts import tokens
from annotation.models import ApiToken, ChangeEntry
from config.redaction import redact
from tests.annotation.api.scopes import CHANGES
from tests.world import World, make_user

SCOPES = ("read", "annotate-admin", "score", "site")
SAMPLES = {"id": "1", "pk": "1", "kind": "campaign", "verb": "rename"}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def token_of(user: Any, *scopes: str) -> str:
    return tokens.make(user=user, name="script", scopes=scopes, days=1)


def operations() -> dict[str, list[dict[str, list[str]]]]:
    """Every operation of the schema with what it says of security."""
    schema = Client().get("/api/schema/", headers={"accept": "application/json"}).json()
    assert schema["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    return {
        f"{method.upper()} {path}": operation["security"]
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
        if path != "/api/schema/"
    }


@pytest.mark.needs("training")
def test_every_operation_needs_its_scope_and_no_other(world: World) -> None:
    found = operations()
    assert {each for each in found if not each.startswith("GET ")} == set(CHANGES)
    issued = {scope: token_of(world.admin, scope) for scope in SCOPES}
    for operation, security in found.items():
        needed = CHANGES.get(operation, "read")
        assert {"token": [needed]} in security, operation
        method, _, path = operation.partition(" ")
        address = re.sub(r"{(\w+)}", lambda m: SAMPLES.get(m[1], world.campaign.slug), path)
        for scope, token in issued.items():
            answer = Client(raise_request_exception=False).generic(
                method, address, headers=bearer(token)
            )
            refused = answer.status_code == 403 and f"“{needed}”" in answer.text
            assert refused == (scope != needed), (operation, scope, answer.content[:200])


def test_all_that_pages_offer_as_data_opens_with_a_token_that_reads(world: World) -> None:
    address = f"/campaigns/{world.campaign.slug}/judgments.csv"
    client = Client()
    assert client.get(address).status_code == 302
    opened = client.get(address, headers=bearer(token_of(world.researcher, "read")))
    assert opened.status_code == 200
    refused = client.get(address, headers=bearer(token_of(world.researcher, "score")))
    assert (refused.status_code, "“read”" in refused.text) == (403, True)
    # Neither pages nor changes.
    token = token_of(world.admin, *SCOPES)
    page = f"/campaigns/{world.campaign.slug}/setup/"
    assert client.get(page, headers=bearer(token)).status_code == 302
    close = f"/campaigns/{world.campaign.slug}/close/"
    assert client.post(close, headers=bearer(token)).status_code == 302


@pytest.mark.parametrize("end", ["revoked", "expired", "deactivated", "never there"])
def test_a_token_that_does_not_work_answers_401(world: World, end: str) -> None:
    token = token_of(world.researcher, "read")
    client = Client()
    assert client.get("/api/campaigns/", headers=bearer(token)).status_code == 200
    rows = ApiToken.objects.all()
    if end == "revoked":
        assert tokens.revoke(user=world.researcher, pk=rows.get().pk)
    elif end == "expired":
        rows.update(expires_at=timezone.now() - timedelta(seconds=1))
    elif end == "deactivated":
        world.researcher.is_active = False
        world.researcher.save()
    else:
        token += "x"
    for address in ("/api/campaigns/", f"/campaigns/{world.campaign.slug}/judgments.csv"):
        answer = client.get(address, headers=bearer(token))
        assert answer.status_code == 401, address


def test_a_token_gives_no_role(world: World) -> None:
    """Neither to annotators nor to researchers who would configure metrics."""
    annotator = token_of(world.annotators[0], *SCOPES)
    assert Client().get("/api/campaigns/", headers=bearer(annotator)).status_code == 403
    researcher = token_of(world.researcher, *SCOPES)
    assert Client().post("/api/metrics/", headers=bearer(researcher)).status_code == 403


def test_the_last_use_is_recorded_to_the_minute(
    world: World, django_assert_max_num_queries: Any
) -> None:
    token = token_of(world.researcher, "read")
    assert ApiToken.objects.get().last_used_at is None
    assert tokens.find(token)
    first = ApiToken.objects.get().last_used_at
    assert first is not None
    with django_assert_max_num_queries(1):
        assert tokens.find(token)
    ApiToken.objects.update(last_used_at=first - timedelta(minutes=2))
    assert tokens.find(token)
    assert ApiToken.objects.get().last_used_at >= first


def test_the_page_makes_shows_lists_and_revokes(world: World, as_researcher: Client) -> None:
    given = {"name": "nightly", "scopes": ["read", "score"], "days": "30"}
    page = as_researcher.post("/account/tokens/", given)
    assert page["Cache-Control"] == "no-store"
    (token,) = set(re.findall(r"touchstone_[\w-]{43}", page.text))
    row = ApiToken.objects.get()
    assert (row.user, row.scopes) == (world.researcher, ["read", "score"])
    assert timedelta(days=29) < row.expires_at - timezone.now() <= timedelta(days=30)
    again = as_researcher.get("/account/").text
    assert "nightly" in again
    assert token not in again
    other = Client()
    other.force_login(make_user("other", "researcher"))
    assert "nightly" not in other.get("/account/").text
    other.post(f"/account/tokens/{row.pk}/revoke/")
    assert tokens.find(token), "only its owner revokes it"
    as_researcher.post(f"/account/tokens/{row.pk}/revoke/")
    assert tokens.find(token) is None
    actions = ChangeEntry.objects.order_by("pk").values_list("action", "actor_name")
    assert list(actions) == [("token made", "researcher"), ("token revoked", "researcher")]
    # A site's metrics are for site admins.
    assert as_researcher.post("/account/tokens/", given | {"scopes": ["site"]}).status_code == 422


def test_no_column_and_no_log_holds_a_token(world: World) -> None:
    token = token_of(world.researcher, "read")
    secret = token.removeprefix(tokens.PREFIX)
    stored = set(connection.introspection.table_names())
    for model in [each for each in apps.get_models() if each._meta.db_table in stored]:
        for values in model._default_manager.values():
            assert secret not in str(values), model
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    logging.getLogger("api").addHandler(handler)
    logging.getLogger("api").error("Authorization: %s", bearer(token))
    logging.getLogger("api").removeHandler(handler)
    assert secret not in stream.getvalue()
    assert redact(f"got {token}.") == "got ***."
