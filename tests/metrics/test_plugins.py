"""A metric of somebody else: written, built as a wheel, installed where a worker alone sees it."""

import json
import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import timezone

from metrics import catalogue, plugins, registry
from metrics.base import MetricError, MetricInfo, SegmentInput
from metrics.catalogue import everything_known
from metrics.models import ConfiguredMetric, MetricRun
from metrics.models.fleet import Worker
from metrics.options import Option, OptionError, Options
from metrics.plugins import CONTRACT, Found, Plugin
from metrics.workers import capability
from tests.metrics.conftest import drain, start
from tests.metrics.wheel import KEY, NAME, install, needs_setuptools
from tests.refusals import refused, tells
from tests.world import World

ROOT = Path(__file__).parents[2]


def run(*command: str, target: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a worker that has a folder of packages of its own."""
    paths = [str(ROOT), *([str(target)] if target else [])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | more
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def target(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the wheel of the template is installed."""
    return install(tmp_path_factory.mktemp("plugin"))


@needs_setuptools
def test_the_template_conforms(target: Path) -> None:
    done = run(sys.executable, "-m", "metrics.conformance", KEY, target=target, METRIC_PLUGINS=NAME)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILED" not in done.stdout
    assert done.stdout.count("ok ") == 11
    assert f"|plugin:{NAME}|version:0.1.0|contract:1|" in done.stdout
    assert len((target / "their_length" / "scorer.py").read_text().splitlines()) <= 12


BAD = """
import numpy as np
from metrics.plugins import Plugin, PluginScorer
PLUGIN = Plugin(label="Bad", description="Bad", scorer="their_length:Bad", needs_reference=True)
class Bad(PluginScorer):
    def score(self, inputs):
        return np.array([[len(i.hypothesis) / len(inputs) + n] for n, i in enumerate(inputs)])
"""


@needs_setuptools
def test_failed_checks_are_listed(target: Path, tmp_path: Path) -> None:
    for path in target.rglob("*"):
        copy = tmp_path / path.relative_to(target)
        copy.mkdir(parents=True) if path.is_dir() else copy.write_bytes(path.read_bytes())
    (tmp_path / "their_length" / "__init__.py").write_text(BAD)
    done = run(
        sys.executable, "-m", "metrics.conformance", KEY, target=tmp_path, METRIC_PLUGINS=NAME
    )
    assert done.returncode == 1
    failed = {line[7:].partition(":")[0] for line in done.stdout.splitlines() if "FAILED" in line}
    assert failed >= {
        "same scores singly and in a batch", "same scores in any order",
        "missing reference", "batch without texts",
    }  # fmt: skip
    (tmp_path / "their_length" / "__init__.py").write_text("import torch_that_is_missing")
    show = "from metrics import plugins; print(plugins.here()['" + KEY + "'].error)"
    done = run(sys.executable, "-c", show, target=tmp_path, METRIC_PLUGINS=NAME)
    assert "No module named 'torch_that_is_missing'" in done.stdout
    # Without its name in the setting nothing of it is imported.
    none = "from metrics import plugins; print(plugins.here())"
    assert run(sys.executable, "-c", none, target=tmp_path, METRIC_PLUGINS="").stdout == "{}\n"


@needs_setuptools
def test_the_web_server_offers_what_only_a_worker_has(
    target: Path, world: World, as_admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    show = "import json; from metrics import plugins as p; "
    show += "print(json.dumps([each.as_data() for each in p.here().values()]))"
    told = run(sys.executable, "-c", show, target=target, METRIC_PLUGINS=NAME).stdout
    now = timezone.now() + timedelta(hours=1)
    fields = {"uid": "w", "name": "w", "host": "gpu-1", "pid": 1, "started_at": now, "seen_at": now}
    Worker.objects.create(plugins=json.loads(told), queues=["cpu"], **fields)
    assert "Their-Length" in as_admin.get("/metrics/add/").text
    form = {"name": "theirs", "label": "Theirs", "add": "yes"}
    assert as_admin.post(f"/metrics/add/{KEY}/", form).status_code == 302
    info = catalogue.get("theirs")
    assert (info.family, info.needs_reference, info.measures) == (KEY, True, ("theirs",))
    # It is not installed here: this worker lacks it, and leaves its runs alone.
    [lack] = capability.lacking(info)
    assert (lack.code, lack.parameters) == ("worker.plugin-missing", {"package": NAME})
    left = drain(start(world, "theirs"))
    assert left.status == MetricRun.Status.QUEUED
    with refused("metric.unknown-family", kind=MetricError):
        registry.get_family(KEY)
    # A worker that has it scores, and the signature names the version.
    monkeypatch.syspath_prepend(str(target))
    monkeypatch.setenv("METRIC_PLUGINS", NAME)
    plugins.here.cache_clear()
    try:
        done = drain(left)
    finally:
        plugins.here.cache_clear()
    assert done.status == MetricRun.Status.DONE, done.message
    assert f"|plugin:{NAME}|version:0.1.0|" in done.signature.signature  # type: ignore[union-attr]


def test_one_of_another_contract_is_off_and_stops_nothing(as_admin: Client) -> None:
    plugin = Plugin(label="Old", description="Old", scorer="a:B", contract=CONTRACT + 8)
    problem = plugins._problem("a--b", plugin)
    assert problem
    assert (problem.code, problem.parameters["theirs"]) == ("plugin.contract", CONTRACT + 8)
    assert plugins._problem("a--b", Plugin("A", "A", "a:B", measures=(("x", "X"),)))
    assert plugins._problem("a" * 40 + "--b", Plugin("A", "A", "a:B"))
    off = Found("old--main", "old", "0.1", None, problem)
    now = timezone.now() + timedelta(hours=1)
    fields = {"uid": "w", "name": "w", "host": "h", "pid": 1, "started_at": now, "seen_at": now}
    Worker.objects.create(plugins=[off.as_data()], **fields)
    assert tells(as_admin.get("/metrics/add/").text, "plugin.contract", theirs=9)
    assert as_admin.get("/metrics/add/old--main/").status_code == 404
    with everything_known():
        assert not registry.has_family("old--main")


def test_descriptions_come_back_from_a_report_as_they_were() -> None:
    from metrics.options import PRECISION

    plugin = Plugin("A", "B", "a:B", measures=(("", ""), ("n", "count")), options=(PRECISION,))
    found = Found("a--b", "a", "1", plugin)
    assert plugins.from_data(json.loads(json.dumps(found.as_data()))) == found
    assert found.family is not None
    info = found.family.describe("x", "X", {"precision": "float32"})
    assert info.measures == ("x", "x-n")
    assert info.measure_labels == ("X", "X count")


def test_one_may_be_described_by_code_which_does_not_travel() -> None:
    def describe(name: str, label: str, options: Options) -> MetricInfo:
        keys = ("", "-n") if options["count"] else ("",)
        measures = tuple(name + key for key in keys)
        return MetricInfo(name, label, measures, measures, needs_source=True, needs_reference=False)

    count = Option("count", "Count", "boolean", False)
    found = Found("a--b", "a", "1", Plugin("A", "B", "a:B", options=(count,), describe=describe))
    assert found.family is not None
    info = found.family.describe("x", "X", {"count": True})
    assert (info.measures, info.needs_source) == (("x", "x-n"), True)
    assert (info.family, info.options) == ("a--b", (("count", True),))
    told = plugins.from_data(json.loads(json.dumps(found.as_data()))).family
    assert told is not None
    assert (told.key, str(told.description), told.options) == ("a--b", "B (plug-in a 1)", (count,))
    with refused("plugin.code-needed", kind=OptionError):
        told.describe("x", "X", {"count": True})


def test_a_bad_name_is_refused(tmp_path: Path) -> None:
    for name in ("Our", "our metric", "1st", "../x"):
        with refused("command.metric-name", kind=CommandError):
            call_command("startmetric", name, str(tmp_path / "x"))
    with refused("command.folder-exists", kind=CommandError):
        call_command("startmetric", "ours", str(tmp_path))


def test_a_scorer_takes_twelve_lines_and_gives_float64() -> None:
    class Halves(plugins.PluginScorer):
        def score_one(self, segment: SegmentInput) -> list[float]:
            return [1, len(segment.hypothesis) / 2]

    info = Found("a--b", "a", "1", Plugin("A", "B", "a:B", measures=(("", ""), ("n", "n")))).family
    assert info is not None
    metric = Halves(info.describe("x", "X", {}), source_language="de", target_language="en")
    rows = metric.score([SegmentInput("", "abc", ())])
    assert rows.dtype == np.float64
    assert rows.tolist() == [[1, 1.5]]
    assert metric.score([]).shape == (0, 2)
    assert metric.signature() == "x|languages:de-en"


def test_another_file_in_its_place_is_another_signature(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = Option("words", "Words", "file"), Option("model", "Model", "checkpoint", "")
    found = Found("a--b", "a", "1", Plugin("A", "B", "a:B", options=options))
    monkeypatch.setattr(plugins, "here", lambda: {"a--b": found})
    words, model = tmp_path / "words.txt", tmp_path / "model"
    model.mkdir()

    def signature(text: str, settings: str, **more: str) -> str:
        words.write_text(text, encoding="utf-8")
        (model / "config.json").write_text(settings, encoding="utf-8")
        assert found.family is not None
        info = found.family.describe("x", "X", {"words": str(words), **more})
        metric = plugins.PluginScorer(info, source_language="de", target_language="en")
        return plugins.sign(metric, "a--b").signature()

    one = signature("the", "{}", model=str(model))
    assert signature("the", "{}", model=str(model)) == one
    assert one not in (
        signature("a", "{}", model=str(model)),
        signature("the", "[]", model=str(model)),
        signature("the", "{}"),
    )


@pytest.mark.django_db
def test_a_metric_outlives_its_plugin() -> None:
    found = Found("a--b", "a", "1", Plugin("A", "B", "a:B"))
    assert found.family is not None
    info = found.family.describe("gone", "Gone", {})
    document = {**vars(info), "options": {}}
    ConfiguredMetric.objects.create(name="gone", label="Gone", family="a--b", description=document)
    assert catalogue.get("gone") == info
    assert capability.lacking(info)
