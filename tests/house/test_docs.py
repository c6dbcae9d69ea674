"""The documentation names what there is: modules, settings, data sets, commands."""

import re
from pathlib import Path

import pytest

from metrics.datasets import DATASETS

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ARCHITECTURE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
TREE = ARCHITECTURE.split("### The tree")[1].split("```")[1]
PACKAGES = ("annotation", "metrics", "dashboards", "config", "metaeval", "training")
SELF_EVIDENT = {"management", "migrations", "templatetags"}


def test_the_tree_names_every_package() -> None:
    for package in (*PACKAGES, "templates", "static", "tests", "benchmarks", "docs"):
        assert f"{package}/" in TREE, package


@pytest.mark.parametrize("package", ["annotation", "metrics", "metaeval", "dashboards", "training"])
def test_the_tree_names_every_room(package: str) -> None:
    rooms = {path.parent.name for path in (ROOT / package).glob("*/__init__.py")} - SELF_EVIDENT
    assert sorted(room for room in rooms if f" {room}/" not in TREE) == []


def test_every_setting_is_documented() -> None:
    code = "".join(
        (ROOT / "config" / name).read_text() for name in ("settings.py", "environment.py")
    )
    names = set(re.findall(r"env_(?:bool|int|list|networks)\(\s*\"([A-Z_]+)\"", code))
    names |= set(re.findall(r"environ\.get\(\"([A-Z_]+)\"", code))
    text = (ROOT / "docs" / "settings.md").read_text()
    assert sorted(name for name in names if f"`{name}`" not in text) == []
    assert len(names) > 10


def test_every_data_set_is_documented() -> None:
    text = (ROOT / "docs" / "datasets.md").read_text()
    assert [name for name in DATASETS if f"`{name}`" not in text] == []


def test_every_command_is_documented() -> None:
    commands = {
        path.stem
        for app in ("annotation", "metrics", "dashboards")
        for path in (ROOT / app / "management" / "commands").glob("[a-z]*.py")
    }
    text = README + "".join(path.read_text() for path in (ROOT / "docs").glob("*.md"))
    missing = [name for name in commands if f"manage.py {name}" not in text and name != "demo"]
    assert missing == []


def test_links_lead_somewhere() -> None:
    for page in (ROOT / "README.md", *(ROOT / "docs").glob("*.md"), ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if not target.startswith("http"):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_section_of_performance_names_what_measures_it() -> None:
    text = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for section in text.split("\n## ")[1:]:
        title = section.partition("\n")[0]
        scripts = re.findall(r"benchmarks[./](\w+)", section)
        targets = re.findall(r"`make ([\w-]+)`", section)
        assert scripts or targets, title
        for name in scripts:
            script = ROOT / "benchmarks" / name
            places = (script.with_suffix(".py"), script / "__init__.py")
            assert any(place.exists() for place in places), f"{title}: {name}"
        for name in targets:
            assert f"\n{name}:" in makefile, f"{title}: {name}"


def test_every_claim_against_the_peers_has_its_test() -> None:
    text = (ROOT / "docs" / "peers.md").read_text(encoding="utf-8")
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", text)
    rows = [line for line in text.splitlines() if line.startswith("| ") and "---" not in line]
    assert len(named) == len(rows) - 2  # the headings of the two tables
    for path, test in named:
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{test}"


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    pages = {path.name for path in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert sorted(page for page in pages if f"]({page})" not in index) == []
