"""Tables of MT systems compare judged systems with each other, whatever else has metric scores.

The study is made as Cheng et al. 2023 have theirs: systems at two lengths, of which some were
scored by metrics alone. Marks are those of a paired bootstrap that is written here.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
from django.apps import apps
from django.test import Client
from django.urls import reverse

from annotation.imports import CampaignDraft, store_campaign
from annotation.imports.drafts import ItemDraft, JudgmentDraft
from annotation.models import Campaign, TestSet
from annotation.uploads import InputFile
from dashboards.systems.document import SystemsChoice, compute
from dashboards.systems.page import marked
from metrics.imported.checking import bring_in, check
from metrics.imported.files import Choices
from tests.dashboards import typed
from tests.shared import SharedRows
from tests.world import add_system, make_test_set

N = 40
JUDGED = ("LE", "TE", "TTS")
# By length ratio and system the mean of the metric. At 80% `near` stands between TE and TTS, and
# `copy` above all; at 50% `near` stands between LE and TE, which differ clearly.
MEANS = {
    "0.80": {"copy": 0.90, "LE": 0.60, "TE": 0.58, "near": 0.57, "TTS": 0.44},
    "0.50": {"LE": 0.45, "near": 0.44, "TE": 0.36, "TTS": 0.35, "copy": 0.20},
}


def scores() -> dict[str, dict[str, np.ndarray]]:
    """The metric's scores of every segment."""
    rng = np.random.default_rng(20)
    found: dict[str, dict[str, np.ndarray]] = {}
    for ratio, means in MEANS.items():
        difficulty = rng.normal(scale=0.1, size=N)
        noise = {name: rng.normal(scale=0.1, size=N) for name in means}
        found[ratio] = {
            name: mean + difficulty + noise[name] - (difficulty + noise[name]).mean()
            for name, mean in means.items()
        }
    return found


def bootstrapped(own: Mapping[str, np.ndarray], versus: str) -> dict[str, str]:
    """The marks of judged systems, by resampling segments with numpy alone."""
    order = sorted(JUDGED, key=lambda name: -own[name].mean())
    pairs = pairwise(order) if versus == "next" else ((name, order[0]) for name in order[1:])
    marks = dict.fromkeys(JUDGED, "")
    draws = np.random.default_rng(3).integers(0, N, (20_000, N))
    for name, other in pairs:
        gap = own[name] - own[other]
        reached = np.abs(gap[draws].mean(axis=1) - gap.mean()) >= abs(gap.mean())
        p = reached.mean()
        assert not 0.005 < p < 0.02
        assert not 0.03 < p < 0.1
        marks[name] = "‡" if p < 0.01 else "†" if p < 0.05 else ""
    return marks


def launched(test_set: TestSet, ratio: str) -> Campaign:
    """A campaign of judgments of three of the five systems, by two annotators."""
    level = {"LE": 70, "TE": 60, "TTS": 40}
    rng = np.random.default_rng(5)
    items = [ItemDraft(str(n + 1), name) for n in range(N) for name in JUDGED]
    when = datetime(2023, 1, 2, tzinfo=UTC)
    judgments = []
    for place, item in enumerate(items):
        truth = level[str(item.system)] + rng.normal(scale=15)
        judgments += [
            JudgmentDraft(who, place, int(np.clip(truth + rng.normal(scale=5), 0, 100)), when, when)
            for who in ("A1", "A2")
        ]
    draft = CampaignDraft(
        slug=f"lengths-{ratio[2:]}", name=f"At {ratio}", study="lengths", question="How good?",
        length_ratio=Decimal(ratio), items=items, judgments=judgments,
    )  # fmt: skip
    return store_campaign(draft, test_set).campaign


def make_study() -> TestSet:
    test_set = make_test_set("lengths", segments=N, systems=(), languages=("en", "zh"))
    lines = ["system\tsegment\tBLEURT"]
    for ratio, own in scores().items():
        for name, values in own.items():
            add_system(test_set, name, ratio)
            lines += [
                f"{name}@{float(ratio)}\t{n + 1}\t{v:.17g}" for n, v in enumerate(values.tolist())
            ]
    table = InputFile.holding("scores.tsv", "\n".join(lines).encode())
    checked = check(test_set, [table], Choices())
    assert not checked.report.errors
    bring_in(checked)
    for ratio in MEANS:
        launched(test_set, ratio)
    return test_set


@pytest.fixture(scope="module")
def study_rows(shared_rows: SharedRows[TestSet]) -> Iterator[int]:
    with shared_rows(make_study) as made:
        yield made.pk


@pytest.fixture
def study(study_rows: int, db: None) -> TestSet:
    return TestSet.objects.get(pk=study_rows)


def test_an_imported_campaign_has_the_systems_that_were_judged(study: TestSet) -> None:
    assert study.systems.count() == 10
    for campaign in study.campaigns.all():
        assert set(campaign.systems.values_list("name", flat=True)) == set(JUDGED)
        assert set(campaign.systems.values_list("length_ratio", flat=True)) == {
            campaign.length_ratio
        }
    # One that was stored when all systems of the length were taken, and a draft that may have all.
    old = study.campaigns.get(slug="lengths-80")
    old.systems.set(study.systems.filter(length_ratio="0.80"))
    draft = CampaignDraft(
        slug="later", name="Later", question="?", is_finished=False, length_ratio=Decimal("0.80")
    )
    later = store_campaign(draft, study).campaign
    import_module("annotation.migrations.0026_judged_systems").keep_judged(apps, None)
    assert set(old.systems.values_list("name", flat=True)) == set(JUDGED)
    assert later.systems.count() == 5


@pytest.mark.needs("extensions.studies")
@pytest.mark.parametrize("versus", ["next", "best"])
@pytest.mark.parametrize("is_old", [False, True])
def test_table_9_is_that_of_an_independent_bootstrap(
    study: TestSet, as_researcher: Client, versus: str, is_old: bool
) -> None:
    """Also where a campaign was stored with all systems of its length."""
    if is_old:
        for campaign in study.campaigns.all():
            campaign.systems.set(study.systems.filter(length_ratio=campaign.length_ratio))
    address, asked = reverse("study-systems-data", args=["lengths", "json"]), {"versus": versus}
    data = as_researcher.get(address, asked).json()
    assert [head["percent"] for head in data["campaigns"]] == ["80%", "50%"]
    block = next(each for each in data["blocks"] if each["key"] not in ("human", "length"))
    shown = {line["system"]: line["cells"] for line in block["lines"]}
    # Judged systems first, then those that metrics alone scored.
    assert set(list(shown)[:3]) == set(JUDGED)
    assert list(shown)[3:] == ["copy", "near"]
    for place, own in enumerate(scores().values()):
        marks = bootstrapped(own, versus)
        for name, values in own.items():
            cell = shown[name][place]
            assert cell["score"] == pytest.approx(values.mean())
            assert (cell["mark"], cell["is_judged"]) == (marks.get(name, ""), name in JUDGED)
            assert name in JUDGED or not cell["is_best"]
    # Table 10 has all, too; what was not judged is marked.
    lengths = next(each for each in data["blocks"] if each["key"] == "length")
    assert {line["system"]: line["cells"][0]["is_judged"] for line in lengths["lines"]} == {
        name: name in JUDGED for name in shown
    }
    page = as_researcher.get(reverse("study-systems", args=["lengths"]), asked).text
    assert page.count(">not judged</span>") == 4


def test_marks_need_both_rows_in_the_table_itself(study: TestSet) -> None:
    """The campaign's page, its CSV and LaTeX: each mark is of the next row that is shown."""
    for campaign, own in zip(
        study.campaigns.order_by("-length_ratio"), scores().values(), strict=True
    ):
        found = marked(replace(compute(campaign, SystemsChoice()), trust=typed.trusted()))
        (column,) = found.columns
        assert {row.system for row in column.rows} == set(found.systems) == set(JUDGED)
        assert {row.system: row.mark for row in column.rows} == bootstrapped(own, "next")
        assert {row.system for row in found.outside} == {"copy", "near"}
        assert not any(row.mark or row.is_best or row.is_judged for row in found.outside)
