"""Checkpoints on this machine (`inventory`) and over all hosts (`hosts`)."""

import socket
from pathlib import Path

import pytest

from metrics import catalogue
from metrics.models.fleet import Worker
from metrics.stock import hosts, inventory
from metrics.stock.hosts import HERE, Stock
from tests.metrics.fleet import comet, empty_models, encoder, found, make_worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return empty_models(tmp_path, monkeypatch)


@pytest.mark.needs("extensions.neural")
def test_what_metrics_need(models: Path) -> None:
    encoder(models / "acme" / "x")
    options = {"checkpoint": "acme/x", "layer": 3}
    catalogue.configure(family="bertscore", name="bs-x", label="BS X", options=options)
    needed = inventory.needed()
    assert [info.name for info in needed["acme/x"]] == ["bs-x"]
    assert [info.name for info in needed["roberta-large-mnli"]] == ["bertscore-roberta"]
    assert "" not in needed


@pytest.mark.needs("extensions.neural")
def test_a_retired_metric_needs_nothing(models: Path) -> None:
    encoder(models / "acme" / "x")
    options = {"checkpoint": "acme/x", "layer": 3}
    catalogue.configure(family="bertscore", name="bs-x", label="BS X", options=options)
    catalogue.retire("bs-x")
    assert "acme/x" not in inventory.needed()


def test_an_encoder_here(models: Path) -> None:
    folder = encoder(models / "acme--x", layers=24)
    about = inventory.look("acme/x")
    assert about is not None
    assert about["path"] == str(folder)
    assert about["size"] == 1000 + (folder / "config.json").stat().st_size
    assert (about["layers"], about["needs"], about["has_sums"]) == (25, [], False)


def test_a_comet_names_its_encoder(models: Path) -> None:
    folder = comet(models / "Unbabel" / "wmt22-comet-da")
    (folder / "SHA256SUMS").write_text("")
    about = inventory.look("Unbabel/wmt22-comet-da")
    assert about is not None
    assert (about["layers"], about["needs"], about["has_sums"]) == (
        None,
        ["xlm-roberta-large"],
        True,
    )


@pytest.mark.parametrize(
    "text", ["", "[]", "pretrained_model", ": :", "a: !!python/name:os.system"]
)
def test_broken_settings_name_no_encoder(models: Path, text: str) -> None:
    folder = comet(models / "acme" / "broken")
    (folder / "hparams.yaml").write_text(text)
    about = inventory.look("acme/broken")
    assert about is not None
    assert about["needs"] == []


@pytest.mark.parametrize("name", ["acme/none", "/nowhere/at/all", "a b/c/d/e", "nul\0l", ".."])
def test_what_is_not_here(models: Path, name: str) -> None:
    assert inventory.look(name) is None


def test_everything_that_lies_in_the_folder(models: Path) -> None:
    encoder(models / "acme" / "x")
    encoder(models / "flat")
    encoder(models / "org--y")
    encoder(models / "flat" / "1_Pooling")
    encoder(models / ".fetching" / "half--done")
    (models / "notes").mkdir()
    assert set(inventory.names_here()) == {"acme/x", "flat", "org/y"}


def test_without_a_folder_nothing_lies_in_it(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TOUCHSTONE_MODELS")
    assert inventory.names_here() == []


def test_companions_are_looked_for_by_their_name(models: Path) -> None:
    comet(models / "acme" / "judge")
    assert set(inventory.everything_here()) == {"acme/judge"}
    encoder(models / "xlm-roberta-large")
    assert set(inventory.everything_here()) == {"acme/judge", "xlm-roberta-large"}


def stock(name: str, here: dict[str, inventory.Found] | None = None) -> Stock:
    return next(each for each in hosts.survey(Worker.objects.all(), here) if each.name == name)


NAME = "roberta-large-mnli"


@pytest.mark.needs("extensions.neural")
@pytest.mark.parametrize(
    ("reports", "state", "lacking"),
    [
        ([], "missing", []),
        ([{}], "missing", ["h0"]),
        ([found()], "present", []),
        ([found(), found(fingerprint="a")], "present", []),
        ([found(fingerprint="a"), found(fingerprint="a")], "present", []),
        ([found(fingerprint="a"), found(fingerprint="b")], "broken", []),
        ([found(problems=["config.json is missing."])], "broken", []),
        ([found(), {}], "partial", ["h1"]),
    ],
)
def test_the_state_over_hosts(
    reports: list[dict[str, object]], state: str, lacking: list[str]
) -> None:
    for number, report in enumerate(reports):
        make_worker(f"gpu@h{number}", checkpoints={NAME: report} if report else {})
    found_stock = stock(NAME)
    assert (found_stock.state, found_stock.lacking) == (state, lacking)


def test_a_host_for_other_queues_lacks_nothing() -> None:
    make_worker("gpu@one", checkpoints={NAME: found()})
    make_worker("cpu@two", queues=["cpu"])
    assert stock(NAME).lacking == []


def test_workers_of_one_host_are_one_place() -> None:
    make_worker("gpu0@one", checkpoints={NAME: found()})
    make_worker("gpu1@one", checkpoints={NAME: found(problems=["x is missing."], checked_at=5)})
    [place] = stock(NAME).places
    assert (place.host, place.found["problems"]) == ("one", ["x is missing."])


def test_the_web_server_is_a_place_where_no_worker_reports_from_it() -> None:
    here: dict[str, inventory.Found] = {NAME: {"path": "/m", "size": 1, "needs": []}}
    assert [place.host for place in stock(NAME, here).places] == [HERE]
    make_worker(f"gpu@{socket.gethostname()}", checkpoints={NAME: found()})
    assert [place.host for place in stock(NAME, here).places] == [socket.gethostname()]


def test_a_companion_that_no_host_has_is_missing() -> None:
    make_worker("gpu@one", checkpoints={"Unbabel/XCOMET-XL": found(needs=["xlm-r-xl"])})
    companion = stock("xlm-r-xl")
    assert (companion.used_by, companion.state) == (["Unbabel/XCOMET-XL"], "missing")
    assert companion.is_needed


def test_what_no_metric_uses_comes_last() -> None:
    make_worker("gpu@one", checkpoints={"acme/spare": found()})
    *_, last = hosts.survey(Worker.objects.all())
    assert (last.name, last.is_needed) == ("acme/spare", False)


@pytest.mark.parametrize(
    ("name", "command"),
    [
        (NAME, f"python manage.py models --fetch {NAME}"),
        ("/data/m", "rsync -a OTHER_HOST:/data/m/ /data/m/"),
    ],
)
def test_the_command_that_gets_it(name: str, command: str) -> None:
    assert hosts.fetch_command(name) == command
