"""Settings that make no training together are refused at their names, wherever they are given."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from metrics.forms.families import PREFIX
from tests.refusals import refused
from training.contract import JobError
from training.jobs import starting
from training.models import TrainingJob
from training.parallel import corpora
from training.parallel.reading import Row
from training.refreeeval.recipe import Recipe

WRONG = [
    ({"c1": 1e-5, "c2": 1e-3}, "c2", "c2-above-c1"),
    ({"c1": 1e-3, "c2": 1e-3}, "c2", "c2-above-c1"),
    ({"c1": 0.0, "c2": 0.0}, "c2", "c2-above-c1"),
    ({"c1": 1.0}, "c1", "c1-too-high"),
    ({"rate": 0}, "rate", "rate-zero"),
    ({"word_rate": 0}, "word_rate", "rate-zero"),
    ({"variant": "sent-fa", "alpha": 0}, "alpha", "alpha-zero"),
    ({"batch": 2, "accumulation": 3}, "accumulation", "too-many-parts"),
]


@pytest.mark.parametrize(("options", "name", "code"), WRONG)
def test_a_recipe_refuses_them(options: dict[str, Any], name: str, code: str) -> None:
    with refused(f"refreeeval.{code}", kind=JobError):
        Recipe.from_options(options)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"c2": 0},
        # The first row of the paper's table 12.
        {"variant": "sent-level", "alpha": 0},
        {"variant": "word-level", "rate": 0},
        {"variant": "fluency", "word_rate": 0},
    ],
)
def test_what_is_of_the_paper_or_not_read_is_taken(options: dict[str, Any]) -> None:
    Recipe.from_options(options)


@pytest.fixture
def _corpus(db: None) -> None:
    rows = [Row("1", "one", "eins")]
    corpora.add(name="news", source_language="en", target_language="de", rows=rows)


@pytest.mark.usefixtures("_corpus")
@pytest.mark.parametrize(("options", "name", "code"), WRONG)
def test_form_api_and_command_name_the_setting(
    as_researcher: Client, options: dict[str, Any], name: str, code: str
) -> None:
    sent = {PREFIX + key: value for key, value in options.items()}
    page = as_researcher.post(
        "/training/start/refreeeval/", sent | {"name": "x", "corpora": ["news"]}
    )
    assert page.status_code == 422
    (error,) = page.context["form"].errors.as_data()[PREFIX + name]
    assert error.message.code == f"refreeeval.{code}"
    body = {"kind": "refreeeval", "name": "x", "corpora": ["news"], "options": options}
    answer = as_researcher.post("/api/jobs/", body, content_type="application/json")
    assert answer.status_code == 400
    assert set(answer.json()) >= {name}
    given = [f"{key}={value}" for key, value in options.items()]
    with refused(f"refreeeval.{code}", kind=CommandError):
        call_command("train", "refreeeval", name="x", corpus=["news"], option=given)
    assert not TrainingJob.objects.exists()


@pytest.mark.usefixtures("_corpus")
def test_one_wrong_pair_refuses_a_whole_sweep(as_researcher: Client) -> None:
    sent = {"name": "x", "corpora": ["news"], PREFIX + "c2": "1e-20, 0.1, 0.2"}
    page = as_researcher.post("/training/start/refreeeval/", sent)
    errors = page.context["form"].errors.as_data()[PREFIX + "c2"]
    assert [each.message.parameters["c2"] for each in errors] == [0.1, 0.2]
    given = {"corpus": ["news"], "vary": ["c2=1e-20,0.1"], "seeds": "1"}
    with refused("refreeeval.c2-above-c1", kind=CommandError):
        call_command("train_sweep", "x", **given)
    assert not TrainingJob.objects.exists()


@pytest.mark.usefixtures("_corpus")
def test_every_wrong_setting_is_named_at_once(as_researcher: Client) -> None:
    body = {"kind": "refreeeval", "name": "x", "corpora": ["news"],
            "options": {"layer": 0, "steps": "many"}}  # fmt: skip
    answer = as_researcher.post("/api/jobs/", body, content_type="application/json")
    assert {error["field"] for error in answer.json()["errors"]} == {"layer", "steps"}


@pytest.mark.usefixtures("_corpus")
def test_layers_of_a_head_are_numbers(as_researcher: Client) -> None:
    sent = {"name": "x", PREFIX + "campaign": "harbour", PREFIX + "layers": "six"}
    page = as_researcher.post("/training/start/head/", sent)
    (error,) = page.context["form"].errors.as_data()[PREFIX + "layers"]
    assert error.message.code == "head.layers-invalid"


def test_the_table_of_alpha_is_the_papers() -> None:
    """Wu et al. 2023, table 12."""
    assert starting.TABLES["alpha"] == {"alpha": (0, 5, 10, 50, 100, 500)}


def test_tables_have_the_rows_of_the_paper(data_dir: Path) -> None:
    """The rows that the specification gives: ablation, rules, seeds, and c2 of the final metric."""
    folder = data_dir.parent / "specs"
    reported = json.loads((folder / "reference-free-checks.json").read_text())["reported"]
    rows = [*reported["refreeeval_table1_wmt18"]["rows"]]
    ablation = rows[rows.index("word") :]
    named = ("word-level", "fluency", "sent-fa", "sent-level", "full")
    assert len(ablation) == len(named)
    assert starting.TABLES["ablation"] == {"variant": named}
    rules = starting.TABLES["perturbation"]["rule"]
    assert len(reported["refreeeval_table11_similarity_variation"]) == len(rules) - 1
    seeds = re.search(r"10 seeds \{([\d, ]+)\}", (folder / "reference-free.md").read_text())
    assert seeds is not None
    assert list(starting.SEEDS) == [int(seed) for seed in seeds.group(1).split(",")]
    final = reported["refreeeval_table13_avg_check"]
    assert float(final["row"].removeprefix("c2=")) in starting.TABLES["c2"]["c2"]
    assert final["values"] == reported["refreeeval_table1_wmt18"]["rows"]["ReFreeEval"]
