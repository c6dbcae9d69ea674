"""Pages of judges: endpoints without keys, templates with versions, budgets, what a run shows."""

from typing import Any

import pytest
from django.test import Client

from extensions.judges import templates
from extensions.judges.prompts import KINDS
from metrics import catalogue
from metrics.models import JudgeSpending, JudgeTemplate, MetricRun
from tests.extensions.judges.answers import score_by_length
from tests.extensions.judges.server import KEY, Answer, serving
from tests.house.templates.seen import seen
from tests.metrics.conftest import drain
from tests.refusals import has, refused, tells
from tests.world import World

ADDRESS = "/judges/templates/direct-assessment/"


def declare(settings: Any, url: str, **fields: Any) -> None:
    declared = {"name": "local", "url": url, "allow_private": True, "timeout": 5}
    settings.JUDGE_ENDPOINTS = [declared | fields]


def test_from_an_endpoint_to_a_run_by_pages_alone(
    as_admin: Client, world: World, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_KEY", KEY)
    with serving(score_by_length) as server:
        declare(settings, server.url, key_variable="LOCAL_KEY", completion_price=2.0)
        listed = as_admin.get("/judges/").text
        assert "LOCAL_KEY" in listed
        form = {"name": "gem", "label": "Gem", "option-endpoint": "local", "option-model": "tiny"}
        form |= {"option-template": "direct-assessment@1", "add": "yes"}
        configure = as_admin.get("/metrics/add/judge/").text
        assert tells(configure, "judge.family-about")
        assert as_admin.post("/metrics/add/judge/", form).status_code == 302
        address = f"/testsets/{world.test_set.slug}/score/"
        start = as_admin.get(address).text
        assert "a rough estimate" in start
        systems = list(world.test_set.systems.values_list("pk", flat=True))
        chosen = {"metrics": ["gem"], "systems": systems}
        refused = as_admin.post(address, chosen | {"tokens": ""})
        assert refused.status_code == 422
        (error,) = refused.context["form"].errors["money"].as_data()
        assert error.message.code == "judge.no-budget"
        (choice,) = [one for one in refused.context["form"].choices if one.info.name == "gem"]
        assert choice.is_checked
        assert not MetricRun.objects.exists()
        assert as_admin.post(address, chosen | {"money": "-1"}).status_code == 422
        as_admin.post(address, chosen | {"money": "3.5"})
        run = drain(MetricRun.objects.get())
    assert (run.status, run.failed) == ("done", 0)
    page = as_admin.get(f"/runs/{run.pk}/").text
    row = JudgeSpending.objects.get(run=run)
    assert row.budget_money == 3.5
    assert f"<dt>Answers</dt><dd>{row.calls}</dd>" in seen(page)
    assert "Budget</dt><dd>3.50 USD" in seen(page)
    assert "data-length-correlation" in page
    every = listed + configure + start + page + as_admin.get("/metrics/gem/").text
    every += as_admin.get(f"/api/runs/{run.pk}/").text
    assert KEY not in every


def test_a_version_is_added_and_the_old_one_stays(as_admin: Client) -> None:
    words = {"system": "", "user": "Rate {output}.\r\nAnswer with a number."}
    assert as_admin.post(ADDRESS, words).status_code == 302
    kept = templates.get("direct-assessment@2")
    assert (kept.kind, kept.user) == ("score", "Rate {output}.\nAnswer with a number.")
    assert templates.get("direct-assessment@1").user != kept.user
    page = as_admin.get(ADDRESS).text
    assert page.index("Version 2") < page.index("Version 1")
    # The same words again are no version.
    again = as_admin.post(ADDRESS, words)
    assert again.status_code == 422
    assert tells(again.text, "judge.same-text")
    assert JudgeTemplate.objects.count() == 1


@pytest.mark.parametrize(
    ("user", "why"),
    [
        ("Rate {output} of {system}.", "judge.unknown-placeholder"),
        ("Rate {source}.", "judge.placeholder-missing"),
        ("Rate {output} as {a}", "judge.unknown-placeholder"),
        ("", "This field is required."),
    ],
)
def test_placeholders_are_checked(as_admin: Client, user: str, why: str) -> None:
    refused = as_admin.post(ADDRESS, {"system": "", "user": user})
    assert refused.status_code == 422
    assert has(refused.text, why)
    assert not JudgeTemplate.objects.exists()


def test_a_new_name_begins_with_version_one(as_admin: Client) -> None:
    form = {"name": "ours", "kind": "pairs", "system": "", "user": "{a} or {b}?"}
    assert as_admin.post("/judges/templates/add/", form).status_code == 302
    assert templates.get("ours@1").kind == "pairs"
    assert as_admin.post("/judges/templates/add/", form).status_code == 422
    assert as_admin.post("/judges/templates/add/", form | {"name": "add"}).status_code == 422
    with refused("judge.other-kind"):
        templates.add(name="ours", kind="score", system="", user="{output}?")


def test_researchers_read_and_do_not_write(as_researcher: Client) -> None:
    assert 'name="user"' not in as_researcher.get(ADDRESS).text
    words = {"system": "", "user": "Rate {output}."}
    assert as_researcher.post(ADDRESS, words).status_code == 403
    assert not JudgeTemplate.objects.exists()
    assert as_researcher.get("/judges/templates/none/").status_code == 404


@pytest.mark.django_db
def test_a_judge_needs_a_declared_endpoint_and_a_template(settings: Any) -> None:
    declare(settings, "http://127.0.0.1:9/v1")
    given = {"endpoint": "local", "model": "m"}
    for wrong, facts in (
        (
            {"endpoint": "other"},
            {"option": "endpoint", "problem": "judge.unknown-endpoint", "endpoint": "other"},
        ),
        (
            {"template": "none@1"},
            {"option": "template", "problem": "judge.unknown-template", "template": "none@1"},
        ),
        ({"passes": 0}, {"option": "passes", "problem": "option.minimum", "minimum": 1}),
    ):
        with refused("option.problem", **facts):
            catalogue.configure(family="judge", name="j", label="J", options=given | wrong)
    info = catalogue.configure(family="judge", name="j", label="J", options=given).info
    assert (info.queue, info.needs_reference, info.shown) == ("judges", False, ("j",))
    spans = ("j", "j-minor", "j-major", "j-critical")
    assert info.measures == spans


def test_its_own_family_is_named(as_admin: Client, world: World, settings: Any) -> None:
    world.test_set.systems.filter(pk=world.test_set.systems.first().pk).update(name="GPT-4o")  # type: ignore[union-attr]
    with serving(lambda asked, times: Answer('{"score": 100}')) as server:
        declare(settings, server.url)
        options = {"endpoint": "local", "model": "gpt-5", "template": "direct-assessment@1"}
        catalogue.configure(family="judge", name="gem", label="Gem", options=options)
        systems = list(world.test_set.systems.values_list("pk", flat=True))
        chosen = {"metrics": ["gem"], "systems": systems}
        as_admin.post(f"/testsets/{world.test_set.slug}/score/", chosen)
        run = drain(MetricRun.objects.get())
    page = as_admin.get(f"/runs/{run.pk}/").text
    assert 'data-kin="GPT-4o"' in page
    assert "100.0%" in page  # flawless
    assert 'data-length-correlation="undefined"' in page


def test_templates_are_stored_with_the_kinds_that_judges_have() -> None:
    assert set(dict(JudgeTemplate._meta.get_field("kind").choices or ())) == set(KINDS)
