"""Published human scores that are better when lower, through every door and into every use."""

import json
from collections.abc import Callable, Iterable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.exports import mtme
from annotation.filters import IN, Filters
from annotation.models import Campaign
from dashboards.panel.human import human_scores
from lifecycle.services import copy_campaign
from metaeval.messages import message
from tests.annotation.tables.test_doors import SCORES_API, send, sent
from tests.metaeval.published import CASES
from tests.world import World
from training.head.judged import _published

Door = Callable[..., str]
TED = (CASES / "scores" / "ted_penalties_sys.tsv").read_text()
DE_EN = {"source_language": "de", "target_language": "en"}


def by_page(client: Client, folder: Path, text: str, stated: dict[str, str]) -> str:
    """Import on the page, choosing directions in the preview; return the preview."""
    checked = send(client, sent(text), tool="human-scores", name="Own", **DE_EN)
    page = client.get(checked.url)
    if stated:
        names = text.splitlines()[0].split("\t")[2:]
        changes = {f"words-{name}": value for name, value in (DE_EN | {"name": "Own"}).items()}
        changes |= {f"direction-{names.index(name)}": each for name, each in stated.items()}
        fields = ["system", "segment" if "segment" in text else ""] + ["score"] * len(names)
        changes |= {f"column-{n}": field for n, field in enumerate(fields)}
        checked = client.post(checked.url, {"change": "1", **changes})
        page = client.get(checked.url)
    client.post(checked.url)
    return page.text


def by_command(client: Client, folder: Path, text: str, stated: dict[str, str]) -> str:
    """Import by command; return its output."""
    path, out = folder / "own.tsv", StringIO()
    path.write_text(text)
    options = [f"--{better}-is-better={name}" for name, better in stated.items()]
    languages = ("--source-language", "de", "--target-language", "en", "--name", "Own")
    try:
        call_command("import_human_scores", path, *languages, *options, stdout=out, stderr=out)
    except CommandError as error:
        return f"{out.getvalue()}{error}"
    return out.getvalue()


def by_api(client: Client, folder: Path, text: str, stated: dict[str, str]) -> str:
    """Import over the API; return its answer as text."""
    data: dict[str, Any] = {"tables": [sent(text)], "name": "Own", **DE_EN}
    for better in ("lower", "higher"):
        data[f"{better}_is_better"] = [name for name, each in stated.items() if each == better]
    answer = client.post(SCORES_API, data)
    return json.dumps(answer.json(), ensure_ascii=False)


DOORS = pytest.mark.parametrize("door", [by_page, by_command, by_api])


def table(name: str, values: Iterable[float]) -> str:
    """Scores of outputs, of two systems on half as many segments."""
    rows = (f"{'AB'[n % 2]}\t{n // 2 + 1}\t{value}" for n, value in enumerate(values))
    return "\n".join([f"system\tsegment\t{name}", *rows, ""])


@DOORS
def test_the_best_system_of_ted_comes_first(
    world: World, as_admin: Client, tmp_path: Path, door: Door
) -> None:
    """The README of the data: the lowest penalty is the best, refB before DIDI-NLP."""
    text = "\n".join(
        "\t".join(row.split("\t")[:1] + row.split("\t")[2:]) for row in TED.split("\n")
    )
    assert "error rate" in door(as_admin, tmp_path, text.rstrip("\t"), {})
    for name in ("mean_penalty", "published_penalty"):
        campaign = Campaign.objects.get(slug=f"own-{name}")
        assert campaign.lower_is_better
        assert campaign.direction.code == "direction.stored-lower"
        human = human_scores(campaign, Filters(humans=IN))
        assert human.published_systems is not None
        order = [human.names[place] for place in np.argsort(-human.published_systems)]
        assert (order[:2], order[-1]) == (["refB", "DIDI-NLP"], "ref")
        assert campaign.direction in human.warnings
        # The stored values are the published ones.
        values = dict(campaign.published_scores.values_list("system__name", "value"))
        column = TED.splitlines()[0].split("\t").index(name)
        rows = [row.split("\t") for row in TED.splitlines()[1:]]
        assert values == {row[0]: float(row[column]) for row in rows}


@DOORS
@pytest.mark.parametrize("name", ["mqm", "mean_penalty", "TER", "n errors"])
@pytest.mark.parametrize("sign", [1, -1])
def test_the_sign_of_penalties_decides(
    world: World, as_admin: Client, tmp_path: Path, door: Door, name: str, sign: int
) -> None:
    chosen = {} if name in ("mqm", "mean_penalty") else {name: "lower" if sign > 0 else "higher"}
    text = table(name, (sign * value for value in (0, 1, 5, 2.5)))
    if chosen:
        text = table("mean", (sign * value for value in (0, 1, 5, 2.5)))
        chosen = dict.fromkeys(["mean"], *chosen.values())
    door(as_admin, tmp_path, text, chosen)
    campaign = Campaign.objects.get(slug="own")
    assert campaign.lower_is_better == (sign > 0)
    values = {row.output.segment.key + row.output.system.name: row.value
              for row in campaign.published_scores.select_related("output__segment",
                                                                  "output__system")}  # fmt: skip
    assert values == {"1A": 0, "1B": sign, "2A": sign * 5, "2B": sign * 2.5}
    np.testing.assert_array_equal(human_scores(campaign).values, [[0, -5], [-1, -2.5]])


@DOORS
def test_an_unclear_direction_is_asked_for_or_refused(
    world: World, as_admin: Client, tmp_path: Path, door: Door
) -> None:
    text = table("mqm", (-1, 2, 3, 4))
    output = door(as_admin, tmp_path, text, {})
    assert "--lower-is-better" in output
    assert not Campaign.objects.filter(slug="own").exists()
    if door is by_page:
        assert 'name="direction-0"' in output
    door(as_admin, tmp_path, text, {"mqm": "lower"})
    campaign = Campaign.objects.get(slug="own")
    np.testing.assert_array_equal(human_scores(campaign).values, [[1, -3], [-2, -4]])


@DOORS
def test_a_name_that_no_score_has_is_refused(
    world: World, as_admin: Client, tmp_path: Path, door: Door
) -> None:
    if door is by_page:  # it asks for those that there are
        return
    assert "mqmm" in door(as_admin, tmp_path, table("mqm", (0, 1)), {"mqmm": "lower"})
    assert not Campaign.objects.filter(slug="own").exists()


def test_penalties_and_their_negation_give_the_same_everywhere(
    world: World, as_admin: Client, tmp_path: Path
) -> None:
    """Grids, the targets of trained heads, and the layout of WMT, where higher is better."""
    values = np.random.default_rng(2).exponential(2, 40).round(3)
    found = []
    for sign, name in ((1, "Up"), (-1, "Down")):
        path = tmp_path / f"{name}.tsv"
        path.write_text(table("mqm", sign * values))
        call_command(
            "import_human_scores", path, "--source-language", "de", "--target-language", "en",
            "--name", name, stdout=StringIO(),
        )  # fmt: skip
        campaign = Campaign.objects.get(slug=name.lower())
        exported = {p.split("/", 1)[1].replace(name.lower(), ""): "".join(lines)
                    for p, lines in mtme.bundle(campaign)
                    if p.endswith("score")}  # fmt: skip
        found.append((human_scores(campaign).values.tolist(),
                      [value for *_, value in _published(campaign)],
                      sorted(exported.values())))  # fmt: skip
    assert found[0] == found[1]
    np.testing.assert_array_equal(np.array(found[0][0]).T.ravel(), -values)


def test_the_same_scores_in_the_other_direction_are_another_import(
    world: World, as_admin: Client, tmp_path: Path
) -> None:
    text = table("mqm", (0, 1, 5, 2.5))
    by_command(as_admin, tmp_path, text, {})
    n = Campaign.objects.count()
    by_command(as_admin, tmp_path, text, {})
    assert Campaign.objects.count() == n
    assert "lower" in by_command(as_admin, tmp_path, text, {"mqm": "higher"})
    assert Campaign.objects.get(slug="own").lower_is_better


def test_texts_that_older_sites_stored_are_shown(
    world: World, as_admin: Client, tmp_path: Path
) -> None:
    by_command(as_admin, tmp_path, table("mqm", (0, 1, 5, 2.5)), {})
    Campaign.objects.filter(slug="own").update(direction="Lower is better: MQM.")
    warnings = human_scores(Campaign.objects.get(slug="own")).warnings
    assert message("human.direction", "{text}", text="Lower is better: MQM.") in warnings


def test_a_copy_is_of_judgments_to_come(world: World, as_admin: Client, tmp_path: Path) -> None:
    by_command(as_admin, tmp_path, table("mqm", (0, 1, 5, 2.5)), {})
    copied = copy_campaign(Campaign.objects.get(slug="own"), world.admin)
    assert (copied.lower_is_better, copied.direction) == (False, "")
