"""`manage.py fit_sentsim`, from raw parts to the published scores of a test set."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import CommandError, call_command

from annotation.models import Output
from benchmarks.gpu import small
from extensions.neural.encoding import encoders, token_vectors
from metrics import catalogue
from metrics.models import MetricRun
from metrics.scores import load_scores, system_scores
from tests.refusals import refused
from tests.world import World


@pytest.fixture
def raw(world: World, tmp_path: Path) -> Iterator[str]:
    """A SentSim metric without ranges, on small encoders."""
    texts = list(Output.objects.values_list("text", flat=True))
    encoder = str(small.bert(tmp_path / "mbert", texts))
    options = {"checkpoint": encoder, "encoder": encoder, "layer": 2}
    catalogue.configure(family="sentsim", name="parts", label="Parts", options=options)
    yield "parts"
    token_vectors.forget()
    encoders.forget()


def run(command: str, *arguments: str) -> str:
    out = StringIO()
    call_command(command, *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def test_scores_are_the_published_ones_of_the_set(world: World, raw: str) -> None:
    run("score", "harbour", "--metric", raw, "--here")
    out = run("fit_sentsim", "harbour", "fitted", "--metric", raw, "--label", "SentSim harbour")
    assert out.startswith("SentSim harbour: fitted to 8 texts of harbour\ncosine: ")
    run("score", "harbour", "--metric", "fitted", "--here")
    keys = list(Output.objects.values_list("content_key", flat=True))
    rows = load_scores(MetricRun.objects.latest("pk").signature, world.test_set.systems.all(), keys)
    parts = (rows[:, 0], rows[:, 1], -rows[:, 2])
    scaled = [(part - part.min()) / (part.max() - part.min()) for part in parts]
    a, b, w = np.exp(scaled[0]), np.exp(scaled[1]), np.exp(1 - scaled[2])
    np.testing.assert_allclose(rows[:, 4:], np.stack([a + b, a + w, a + b + w], 1), atol=1e-6)
    assert set(system_scores(world.test_set).measures) == {
        *("parts-cosine", "parts-f", "parts-wmd"),
        *("fitted-cosine-f", "fitted-cosine-wmd", "fitted-all"),
    }


def test_what_has_no_scores_yet_says_how_to_get_them(raw: str) -> None:
    with refused(
        "command.not-scored", kind=CommandError, command="manage.py score harbour --metric parts"
    ):
        run("fit_sentsim", "harbour", "fitted", "--metric", raw)


@pytest.mark.usefixtures("raw")
@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        (("absent", "fitted"), ["command.no-test-set", "command.known"]),
        (("harbour", "fitted", "--metric", "bleu"), ["command.no-sentsim"]),
        (("harbour", "fitted", "--metric", "none"), ["metric.unknown"]),
    ],
)
def test_wrong_names(arguments: tuple[str, ...], codes: list[str]) -> None:
    with refused(*codes, kind=CommandError):
        run("fit_sentsim", *arguments)


def test_a_name_that_is_taken(raw: str) -> None:
    run("score", "harbour", "--metric", raw, "--here")
    with refused("metric.name-taken", kind=CommandError):
        run("fit_sentsim", "harbour", "bleu", "--metric", raw)
