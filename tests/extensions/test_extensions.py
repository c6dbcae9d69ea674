"""The core runs without extensions, and one that is written from the documentation runs in it."""

import os
import re
import subprocess
import sys
from pathlib import Path
from shutil import copytree

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import models

from core import extensions
from core.extensions import Extension, Place

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "extensions.md"
# A file's name in the text, and the blocks of code that follow it.
NAMED = re.compile(r"`(lengths/[\w/.]+)`")
BLOCK = re.compile(r"```\w+\n(.*?)```", re.DOTALL)


def environment(var: Path, installed: str, path: str) -> dict[str, str]:
    """The variables of an installation of its own."""
    return os.environ | {
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": "",
        "TOUCHSTONE_VAR": str(var),
        "EXTENSIONS": installed,
        "SECOND_FACTOR": "yes" if "extensions.identity" in installed else "no",
        "PYTHONPATH": path,
    }


def walk(var: Path, installed: str, *seen: str, path: str = "") -> str:
    """Walk an installation of its own (`tests.extensions.site`); return what is wrong."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.extensions.site", *seen],
        cwd=ROOT,
        env=environment(var, installed, path),
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout + (done.stderr if done.returncode else "")


def test_the_core_runs_without_extensions(tmp_path: Path) -> None:
    assert walk(tmp_path, "") == ""


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation with all extensions, whose pages are whole."""
    var = tmp_path_factory.mktemp("site")
    assert walk(var, ",".join(settings.EXTENSIONS)) == ""
    return var


@pytest.mark.parametrize("left_out", settings.EXTENSIONS)
def test_each_extension_can_be_left_out(complete: Path, tmp_path: Path, left_out: str) -> None:
    var = copytree(complete, tmp_path / "var")
    kept = [
        each for each in settings.EXTENSIONS if left_out not in (each, *extensions.load(each).needs)
    ]
    assert walk(var, ",".join(kept)) == ""


def test_the_extension_of_the_documentation_runs(tmp_path: Path) -> None:
    (tmp_path / "lengths").mkdir()
    (tmp_path / "lengths" / "__init__.py").touch()
    text = GUIDE.read_text(encoding="utf-8")
    names = NAMED.findall(text)
    blocks = BLOCK.findall(text)
    assert len(names) == len(blocks) == 6
    for name, code in zip(names, blocks, strict=True):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(code, encoding="utf-8")
    seen = (
        "/metrics/length-gap/|Length gap",
        "/campaigns/demo-en-zh-80/results/|Output lengths",
        "/campaigns/demo-en-zh-80/lengths/|characters</li>",
        "/campaigns/demo-en-zh-80/lengths.csv|system,characters",
    )
    var = tmp_path / "var"
    assert walk(var, "lengths", *seen, path=str(tmp_path)) == ""
    rows = (("segment", "system", "metric", "gap"), ("bakery-1", "cut-decoder@0.5", "it", "-3"))
    (tmp_path / "gaps.tsv").write_text("\n".join(map("\t".join, rows)))
    imported = (
        "import_scores",
        "demo-en-zh",
        str(tmp_path / "gaps.tsv"),
        "--higher-is-better",
        "it",
    )
    done = subprocess.run(
        [sys.executable, "manage.py", *imported, "--dry-run"],
        cwd=ROOT,
        env=environment(var, "lengths", str(tmp_path)),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, "as gaps" in done.stderr) == (0, True), done.stdout + done.stderr


@pytest.mark.parametrize("name", ["no.such.package", "metrics"])
def test_a_package_without_a_record_is_refused_by_name(name: str) -> None:
    with pytest.raises(ImproperlyConfigured, match=re.escape(name)):
        extensions.load(name)


def test_an_extension_whose_need_is_not_installed_is_refused_by_both_names() -> None:
    with pytest.raises(ImproperlyConfigured, match=r"'training'.*needs 'extensions\.neural'"):
        extensions.load_all(["extensions.judges", "training"])
    assert len(extensions.load_all(["training", "extensions.neural"])) == 2


def test_no_other_app_has_a_relation_to_a_model_of_an_extension() -> None:
    from django.apps import apps

    ours = {each.app for each in extensions.installed()}
    wrong = [
        str(field)
        for model in apps.get_models()
        if model._meta.app_label not in ours
        for field in model._meta.get_fields()
        if isinstance(field, models.ForeignObject)
        and field.related_model is not None
        and field.related_model._meta.app_label in ours
    ]
    assert wrong == []


def test_pages_stand_before_those_that_their_records_name(monkeypatch: pytest.MonkeyPatch) -> None:
    first = Extension(app="one", results=(Place("layers", "Layers", before="scatter"),))
    second = Extension(
        app="two",
        results=(Place("mean", "Mean", before="scatter"), Place("last", "Last", before="nowhere")),
    )
    monkeypatch.setattr(extensions, "installed", lambda: [first, second])
    core = [Place("results", "Summary"), Place("scatter", "Points")]
    names = [each.name for each in extensions.places("results", core)]
    assert names == ["results", "layers", "mean", "scatter", "last"]


def test_an_address_that_nobody_has_is_empty() -> None:
    assert extensions.address("results", "harbour") == "/campaigns/harbour/results/"
    assert extensions.address("no-such-page", "harbour") == ""
