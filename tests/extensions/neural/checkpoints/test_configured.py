"""Checkpoints of every family from an admin's form to stored scores, and those that are refused."""

import json
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.models import Output
from benchmarks.gpu import small
from extensions.neural.encoding import encoders
from metrics import catalogue
from metrics.models import MetricRun
from metrics.scores import load_scores
from tests.extensions.neural.checkpoints.test_bad_input import BUILDERS
from tests.extensions.neural.checkpoints.test_bertscore import TEXTS
from tests.extensions.neural.checkpoints.test_comet import CHECKPOINTS
from tests.refusals import has, refused
from tests.world import World


@pytest.fixture(autouse=True)
def _no_resident_models() -> None:
    encoders.forget()


def score(name: str) -> MetricRun:
    """Run a metric to its end, whatever that is, as `manage.py score --here` does."""
    out = StringIO()
    try:
        call_command("score", "harbour", "--metric", name, "--here", stdout=out, stderr=out)
    except CommandError:
        assert MetricRun.objects.latest("pk").status == "failed"
    return MetricRun.objects.latest("pk")


def stored(run: MetricRun, world: World) -> np.ndarray:
    keys = list(Output.objects.values_list("content_key", flat=True))
    return np.array(load_scores(run.signature, world.test_set.systems.all(), keys))


@pytest.mark.parametrize("builder", BUILDERS)
def test_a_configured_metric_scores(world: World, tmp_path: Path, builder: str) -> None:
    family, options = BUILDERS[builder](tmp_path)
    row = catalogue.configure(family=family, name="mine", label="Mine", options=options)
    run = score("mine")
    assert (run.status, run.done, run.message) == ("done", 8, "")
    rows = stored(run, world)
    assert rows.shape == (8, row.info.width)
    assert np.isfinite(rows).all()
    assert len(np.unique(rows[:, -1])) > 1
    assert score("mine").reused == 8


def test_a_checkpoint_that_was_trained_again_is_scored_again(world: World, tmp_path: Path) -> None:
    family, options = BUILDERS["bleurt"](tmp_path)
    catalogue.configure(family=family, name="mine", label="Mine", options=options)
    first = score("mine")
    settings = Path(str(options["checkpoint"])) / "config.json"
    document = json.loads(settings.read_text()) | {"layer_norm_eps": 0.1}
    settings.write_text(json.dumps(document))
    second = score("mine")
    assert (second.reused, second.signature != first.signature) == (0, True)
    assert not np.allclose(stored(second, world), stored(first, world))


def test_outputs_nobody_expects_are_scored_among_others(world: World, tmp_path: Path) -> None:
    family, options = BUILDERS["comet"](tmp_path)
    catalogue.configure(family=family, name="mine", label="Mine", options=options)
    for output, text in zip(
        Output.objects.all(), ["", "?!", "👩‍👩‍👧", "x " * 10_000], strict=False
    ):
        output.text = text
        output.save()
    run = score("mine")
    assert (run.status, run.done) == ("done", 8)


def broken(folder: Path, damage: str) -> tuple[str, str]:
    """A family, and a checkpoint of it with something wrong."""
    if damage == "bleurt as comet":
        return "comet", str(small.bleurt(folder / "model", TEXTS * 4))
    encoder = small.bert(folder / "model", TEXTS)
    if damage == "truncated":
        weights = encoder / "model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-100])
    elif damage == "no tokenizer":
        (encoder / "vocab.txt").unlink()
        (encoder / "tokenizer_config.json").unlink()
    elif damage == "code":
        document = json.loads((encoder / "config.json").read_text())
        document["auto_map"] = {"AutoModel": "modeling.Model"}
        (encoder / "config.json").write_text(json.dumps(document))
    return ("bleurt" if damage == "bert as bleurt" else "bertscore"), str(encoder)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ("truncated", "encoder.not-loaded"),
        ("no tokenizer", "encoder.not-loaded"),
        ("code", "checkpoint.runs-code"),
        ("bert as bleurt", "checkpoint.weights-missing"),
        ("bleurt as comet", "no hparams.yaml"),
    ],
)
def test_a_run_says_what_is_wrong(world: World, tmp_path: Path, damage: str, message: str) -> None:
    family, checkpoint = broken(tmp_path, damage)
    options = {"checkpoint": checkpoint} | ({"layer": 1} if family == "bertscore" else {})
    catalogue.configure(family=family, name="mine", label="Mine", options=options)
    run = score("mine")
    assert run.status == "failed"
    assert has(str(run.message), message)


def test_a_checkpoint_with_other_layers_than_described(world: World, tmp_path: Path) -> None:
    folder = small.bert(tmp_path / "model", TEXTS)
    options = {"checkpoint": str(folder), "layer": 1}
    catalogue.configure(family="bertscore", name="mine", label="Mine", options=options)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    small.bert(folder, TEXTS, layers=2)
    refused = StringIO()
    with pytest.raises(CommandError):
        call_command(
            "score", "harbour", "--metric", "mine", "--here", stdout=refused, stderr=refused
        )
    assert "4 layers" in refused.getvalue()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "reads"),
    [("comet", {True}), ("reference-free", {False}), ("kiwi", {False}), ("unified", {True, False})],
)
def test_a_comet_checkpoint_says_whether_it_reads_a_reference(
    tmp_path: Path, name: str, reads: set[bool]
) -> None:
    kind, changes = CHECKPOINTS[name]
    encoder = small.xlm_roberta(tmp_path / "xlmr", TEXTS * 4)
    checkpoint = str(small.comet(tmp_path / "model", encoder, kind, **changes))
    for reference in (True, False):
        given = {"checkpoint": checkpoint, "reference": reference}
        names = {"family": "comet", "name": f"mine-{reference}".lower(), "label": "Mine"}
        if reference in reads:
            row = catalogue.configure(**names, options=given)
            assert row.info.needs_reference is reference
        else:
            with refused("option.problem", option="reference"):
                catalogue.configure(**names, options=given)


@pytest.mark.django_db
def test_a_comet_checkpoint_that_is_elsewhere_can_be_configured() -> None:
    given = {"checkpoint": "Unbabel/wmt23-cometkiwi-da-xl", "reference": "no"}
    row = catalogue.configure(family="comet", name="mine", label="Mine", options=given)
    assert not row.info.needs_reference


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"layer": 4}, {"problem": "checkpoint.layers"}),
        ({"layer": -1}, {"problem": "option.minimum"}),
        ({}, {"problem": "option.needed"}),
        ({"layer": 1, "measure": "q"}, {"problem": "option.choices"}),
        ({"layer": 1, "idff": "yes"}, {"names": ["idff"]}),
    ],
)
def test_settings_that_do_not_fit(
    tmp_path: Path, options: dict[str, object], expected: dict[str, object]
) -> None:
    checkpoint = str(small.bert(tmp_path / "model", TEXTS))
    with refused("option.problem" if "problem" in expected else "option.unknown", **expected):
        catalogue.configure(
            family="bertscore",
            name="mine",
            label="Mine",
            options=options | {"checkpoint": checkpoint},
        )
