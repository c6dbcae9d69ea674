"""The API refuses parameters that it does not take, and its schema names those it takes."""

import pytest
from django.test import Client

from annotation.models import Campaign
from tests.world import World

NEEDS = {"extensions.studies", "extensions.comparison", "extensions.layers"}

pytestmark = pytest.mark.usefixtures("kept_state")


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("/api/judgments/?campaign=no-such", "campaign"),
        ("/api/judgments/?without=S2", "campaign"),
        ("/api/judgments/?campaign=rated&without=nobody", "without"),
        ("/api/judgments/?campaign=rated&scores=z", "scores"),
        ("/api/judgments/?kampagne=rated", "kampagne"),
        ("/api/campaigns/?study=port", "study"),
        ("/api/campaigns/rated/?limit=1", "limit"),
        ("/api/test-sets/?slug=x", "slug"),
        ("/api/results/?scores=z", "scores"),
        ("/api/results/rated/?scores=median", "scores"),
        ("/api/results/rated/?metric=chrf", "metric"),
        ("/api/runs/?test_set=no-such", "test_set"),
        ("/api/runs/?testset=rated-set", "testset"),
        ("/api/metrics/?retired=perhaps", "retired"),
        ("/api/metrics/chrf/?retired=yes", "retired"),
        ("/api/jobs/?sweep=no-such", "sweep"),
        ("/api/corpora/?name=x", "name"),
        ("/api/workers/?host=x", "host"),
        ("/api/checkpoints/?name=x", "name"),
    ],
)
def test_the_api_refuses_what_it_does_not_take(
    campaign: Campaign, as_researcher: Client, address: str, name: str
) -> None:
    answer = as_researcher.get(address)
    assert answer.status_code == 400
    assert name in answer.json()["detail"]


def test_every_view_set_says_what_it_takes() -> None:
    from annotation.api.parameters import TakesParameters
    from config.api.routes import router

    assert all(issubclass(view, TakesParameters) for _, view, _ in router.registry)


def test_the_schema_names_the_parameters(client: Client, db: None) -> None:
    schema = client.get("/api/schema/", headers={"accept": "application/json"}).json()

    def named(path: str) -> set[str]:
        return {each["name"] for each in schema["paths"][path]["get"].get("parameters", ())}

    assert named("/api/judgments/") >= {"campaign", "without", "since", "limit", "offset"}
    assert "scores" not in named("/api/judgments/")
    assert named("/api/results/{slug}/") >= {"scores", "without"}
    assert named("/api/runs/") == {"test_set", "limit", "offset"}
    assert named("/api/metrics/") == {"retired", "limit", "offset"}


def test_lists_have_no_page_behind_their_end(as_researcher: Client, world: World) -> None:
    for address in ("/runs/", "/training/", "/studies/", "/campaigns/harbour-80/remarks/"):
        assert as_researcher.get(f"{address}?page=1").status_code == 200
        assert as_researcher.get(f"{address}?page=99").status_code == 404
        assert as_researcher.get(f"{address}?page=last").status_code == 400
