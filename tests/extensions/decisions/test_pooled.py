"""Score differences of a study pool the pairs of systems of each campaign, as the command does."""

import json
from collections.abc import Sequence
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np
import pytest
from django.conf import LazySettings
from django.core.management import call_command
from django.test import Client
from django.urls import reverse
from scipy.optimize import minimize_scalar
from scipy.special import expit

from annotation.filters import Filters
from annotation.models import Campaign
from dashboards.bundle import build
from dashboards.documents.computing import as_stored
from dashboards.pages.page import campaigns_in_order
from dashboards.panel.choice import PooledChoice
from extensions.decisions import pooled
from metaeval.commands import main
from tests.dashboards.documents.working import compute_waiting
from tests.dashboards.tex import problems
from tests.world import make_user

NEEDS = {"extensions.decisions"}
SYSTEMS, N = "ABCDEFG", 24
PAIRS = {"en-de": ("fair", "rare"), "en-cs": ("fair",)}


def bring(folder: Path, pair: str, metrics: Sequence[str], rng: np.random.Generator) -> None:
    """Import ratings of seven systems by one annotator, and scores of metrics."""
    own = f"s-{pair}"
    lines = {
        "segments": ["segment\tsource\treference"],
        "outputs": ["segment\tsystem\toutput"],
        "ratings": ["annotator\tsegment\tsystem\tscore"],
        "scores": ["\t".join(["segment", "system", *metrics])],
    }
    for n in range(N):
        lines["segments"].append(f"{n}\tSource {n}\tReference {n}")
        for place, system in enumerate(SYSTEMS):
            quality = 50 + 3 * place + rng.normal(scale=12)
            lines["outputs"].append(f"{n}\t{system}\tOutput {system} {n}")
            lines["ratings"].append(f"w\t{n}\t{system}\t{min(100, max(0, round(quality)))}")
            found = (f"{quality + rng.normal(scale=25):.3f}" for _ in metrics)
            lines["scores"].append("\t".join([str(n), system, *found]))
    files = {name: folder / f"{own}-{name}.tsv" for name in lines}
    for name, path in files.items():
        path.write_text("\n".join(lines[name]), encoding="utf-8")
    source, target = pair.split("-")
    call_command("import_judgments", *list(files.values())[:3], name=own, study="pooled",
                 source_language=source, target_language=target, stdout=StringIO())  # fmt: skip
    test_set = Campaign.objects.get(name=own).test_set
    if metrics:
        call_command("import_scores", test_set.slug, files["scores"], stdout=StringIO())


def of_study() -> list[Campaign]:
    return campaigns_in_order(Campaign.objects.filter(study="pooled"))


@pytest.fixture
def study(db: None, tmp_path: Path) -> list[Campaign]:
    """Two language pairs of seven systems each; one metric scored only the first."""
    rng = np.random.default_rng(5)
    for pair, metrics in PAIRS.items():
        bring(tmp_path, pair, metrics, rng)
    return of_study()


def scores_of(campaign: Campaign, folder: Path) -> Path:
    """Write the table of scores of a campaign's bundle."""
    with ZipFile(BytesIO(build(campaign, Filters()).zip)) as bundle:
        (name,) = (each for each in bundle.namelist() if each.endswith("/scores.tsv"))
        path = folder / f"{campaign.slug}.tsv"
        path.write_bytes(bundle.read(name))
    return path


def of_command(study: list[Campaign], folder: Path, capsys: pytest.CaptureFixture[str],
               names: Sequence[str] = ("fair", "rare"), *options: str) -> Any:  # fmt: skip
    first, *others = [str(scores_of(each, folder)) for each in study]
    capsys.readouterr()
    also = [f"--also={each}" for each in others]
    assert not main(["agreement", first, *also, "--human=human", "--higher=human",
                     *(f"--higher=imported-{name}" for name in names), "--output=json",
                     *options])  # fmt: skip
    return json.loads(capsys.readouterr().out)["metrics"]


def test_the_study_is_what_the_command_and_a_plain_loop_compute(
    study: list[Campaign], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = as_stored(pooled.compute(study[0], PooledChoice().over(study)))
    assert [(row.key, row.n_campaigns) for row in found.rows] == [
        ("imported-fair", 2), ("imported-rare", 1),
    ]  # fmt: skip
    rows = {row.key: row for row in found.rows}
    for theirs in of_command(study, tmp_path, capsys):
        ours = rows[theirs["metric"]]
        assert (ours.n, ours.agreeing, ours.n_systems, ours.n_campaigns) == tuple(
            theirs[name] for name in ("n", "agreeing", "n_systems", "n_sets")
        )
        for each in ours.needed:
            title = f"difference for {each.share:.0%}"
            assert (each.value, each.low, each.high) == pytest.approx(
                (theirs[title], theirs[f"{title} low"], theirs[f"{title} high"])
            )
    (alone,) = of_command(study, tmp_path, capsys, ["rare"], "--metric=imported-rare")
    assert (alone["n"], alone["n_sets"]) == (21, 1)
    # 21 pairs of seven systems in each campaign, none between campaigns.
    sizes, hits = [], []
    for campaign in study:
        table = (tmp_path / f"{campaign.slug}.tsv").read_text("utf-8").splitlines()
        head, *lines = (line.split("\t") for line in table)
        of = {name: [line for line in lines if line[head.index("system")] == name]
              for name in SYSTEMS}  # fmt: skip
        human, metric = (
            {name: np.mean([float(line[head.index(column)]) for line in own])
             for name, own in of.items()}
            for column in ("human", "imported-fair")
        )  # fmt: skip
        for place, a in enumerate(SYSTEMS):
            for b in SYSTEMS[place + 1 :]:
                sizes.append(abs(metric[a] - metric[b]))
                hits.append((metric[a] - metric[b]) * (human[a] - human[b]) > 0)
    d, y = np.array(sizes), np.array(hits)
    fair = rows["imported-fair"]
    assert (fair.n, fair.agreeing, fair.n_systems) == (42, y.sum(), 14)

    def loss(slope: float) -> float:
        p = expit(slope * d)
        penalty = 0.5 * np.log((d * d * p * (1 - p)).sum())
        return float(np.logaddexp(0.0, np.where(y, -slope, slope) * d).sum() - penalty)

    best = minimize_scalar(loss, bounds=(1e-6, 2), method="bounded", options={"xatol": 1e-9})
    assert fair.value == pytest.approx(best.x, rel=1e-4)
    assert {each.code for each in found.warnings} >= {"decisions.of-some"}


def test_page_and_files_wait_for_a_worker(
    study: list[Campaign], settings: LazySettings, client: Client
) -> None:
    settings.ANALYSES_IN_PLACE = False
    client.force_login(make_user("reader", "researcher"))
    page = reverse("study-differences", args=["pooled"])
    files = {
        fmt: reverse("study-differences-data", args=["pooled", fmt])
        for fmt in ("json", "csv", "tex")
    }
    figure = reverse("study-differences-figure", args=["pooled", "curves", "svg"])
    assert client.get(page).status_code == 200
    assert {client.get(each).status_code for each in (*files.values(), figure)} == {202}
    compute_waiting()
    document = client.get(files["json"], {"difference": "5"}).json()
    assert "others" not in document["filters"]
    assert [row["n_campaigns"] for row in document["rows"]] == [2, 1]
    assert 0.5 < document["rows"][0]["probability"] < 1.0
    assert problems(client.get(files["tex"]).text) == []
    assert len(client.get(files["csv"]).getvalue().decode().splitlines()) == 3
    assert client.get(figure).status_code == 200
    text = client.get(page, {"difference": "5"}).text
    assert 'id="probabilities"' in text
    assert 'id="differences"' in text
    for query in ({"others": "1"}, {"difference": "-1"}, {"unit": "segments"}):
        assert client.get(page, query).status_code == 400


def test_a_campaign_without_scores_is_named(study: list[Campaign], tmp_path: Path) -> None:
    bring(tmp_path, "en-fr", (), np.random.default_rng(6))
    found = as_stored(pooled.compute(study[0], PooledChoice().over(of_study())))
    assert [row.n_campaigns for row in found.rows] == [2, 1]
    assert {each.code for each in found.warnings} >= {"decisions.of-some"}
    campaign = Campaign.objects.get(name="s-en-fr")
    alone = as_stored(pooled.compute(campaign, PooledChoice()))
    assert (alone.rows, alone.n_judged) == ([], N * len(SYSTEMS))
