"""`manage.py add_metric`."""

from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from metrics.models import ConfiguredMetric
from tests.metrics.fleet import empty_models, encoder
from tests.refusals import refused

pytestmark = pytest.mark.django_db
GIVEN = ("--option", "checkpoint=acme/x", "--option", "layer=3")


@pytest.fixture(autouse=True)
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = empty_models(tmp_path, monkeypatch)
    encoder(folder / "acme" / "x")
    return folder


def say(*arguments: str) -> str:
    out = StringIO()
    call_command("add_metric", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.needs("extensions.neural")
def test_a_metric_is_added() -> None:
    told = say("bertscore", "bs-x", "--label", "BERTScore X", *GIVEN)
    assert "Added bs-x; tables show bs-x-3-f." in told
    row = ConfiguredMetric.objects.get()
    assert (row.label, row.info.option("measure"), row.created_by) == ("BERTScore X", "f", None)


@pytest.mark.needs("extensions.neural")
def test_a_dry_run_adds_nothing() -> None:
    assert "Would add bs-x" in say("bertscore", "bs-x", "--dry-run", *GIVEN)
    assert not ConfiguredMetric.objects.exists()


@pytest.mark.needs("extensions.neural")
def test_without_a_name_the_options_are_explained() -> None:
    told = say("bertscore")
    assert "--option checkpoint=…" in told
    assert "one of p, r, f; default f" in told


@pytest.mark.needs("extensions.neural")
@pytest.mark.parametrize(
    ("arguments", "code", "about"),
    [
        (("nothing", "x"), "metric.unknown-family", {"family": "nothing"}),
        (("bertscore", "chrf", *GIVEN), "metric.name-taken", {"metric": "chrf"}),
        (("bertscore", "add", *GIVEN), "metric.name-reserved", {"name": "add"}),
        (("bertscore", "No!", *GIVEN), "metric.name-invalid", {}),
        (("bertscore", "x", "--option", "layer"), "command.option", {"text": "layer"}),
        (("bertscore", "x", "--option", "colour=1"), "option.unknown", {"names": ["colour"]}),
        (("bertscore", "x", *GIVEN[:2], "--option", "layer=13"), "option.problem",
         {"option": "layer", "problem": "checkpoint.layers", "last": 12}),
        (("bertscore", "x", "--option", "checkpoint=a/b", *GIVEN[2:]), "checkpoint.missing",
         {"checkpoint": "a/b"}),
    ],
)  # fmt: skip
@pytest.mark.parametrize("more", [(), ("--dry-run",)])
def test_refusals_have_codes(
    arguments: tuple[str, ...], code: str, about: dict[str, Any], more: tuple[str, ...]
) -> None:
    with refused(code, kind=CommandError, **about):
        say(*arguments, *more)
    assert not ConfiguredMetric.objects.exists()
