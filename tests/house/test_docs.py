"""The documentation names what there is: modules, data sets, pages, what measures and tests."""

import re
import subprocess
from collections import Counter
from pathlib import Path

from config.reference.security import STATES, rows
from metrics.datasets import DATASETS

ROOT = Path(__file__).parents[2]
# What a page says that nobody needs hides what somebody needs.
MOST_WORDS, MOST_OF_PERFORMANCE = 22_000, 1_500


def words(page: Path) -> int:
    return len(page.read_text(encoding="utf-8").split())


def test_hand_written_pages_are_short() -> None:
    docs = ROOT / "docs"
    pages = [each for each in docs.rglob("*.md") if docs / "reference" not in each.parents]
    assert words(docs / "performance.md") <= MOST_OF_PERFORMANCE
    assert sum(map(words, [ROOT / "README.md", *pages])) <= MOST_WORDS


def test_every_data_set_is_documented() -> None:
    text = (ROOT / "docs" / "datasets.md").read_text()
    assert [name for name in DATASETS if f"`{name}`" not in text] == []


def anchors(page: Path) -> set[str]:
    """What follows # in links to the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {heading.replace(" ", "-") for heading in plain}


def test_links_lead_somewhere() -> None:
    wrong = []
    for page in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), ROOT / "CONTRIBUTING.md"):
        for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
            name, _, anchor = target.partition("#")
            there = page.parent / name if name else page
            if not target.startswith("http") and (
                not there.exists() or (anchor and anchor not in anchors(there))
            ):
                wrong.append(f"{page.name}: {target}")
    assert wrong == []


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
    assert len(named) == len(rows) - 1  # the heading
    for path, test in named:
        assert f"def {test}(" in (ROOT / path).read_text(encoding="utf-8"), f"{path}::{test}"


def test_the_index_names_every_page() -> None:
    index = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    folders = [ROOT / "docs", ROOT / "docs" / "reference"]
    pages = {path.relative_to(folders[0]) for folder in folders for path in folder.glob("*.md")}
    named = {Path(target) for target in re.findall(r"\]\((.+?)\)", index)}
    assert sorted(pages - named) == [Path("README.md")]


def test_folders_that_the_makefile_names_are_there() -> None:
    """A folder that was moved would end every run over the services before its first test."""
    command = ["make", "-n", "test-services", "test-kernels"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    named = set(re.findall(r"tests/[\w/.]+", told))
    assert len(named) > 20
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


def test_requirements_of_the_standard_have_a_test_or_a_reason() -> None:
    """Level 2 of ASVS 5.0.0 has 253 requirements."""
    lines = list(rows())
    names = [name for each in lines for name in each[0].split()]
    counts = Counter(int(name[1:].partition(".")[0]) for name in names)
    assert len(set(names)) == len(names) == 253
    assert [counts[chapter] for chapter in range(1, 18)] == [
        27, 11, 19, 10, 9, 35, 18, 7, 7, 29, 14, 9, 13, 9, 13, 16, 7
    ]  # fmt: skip
    for _names, state, reason, test in lines:
        assert state in STATES
        assert reason
        path, _, function = test.partition("::")
        if path:
            assert f"def {function or 'test_'}" in (ROOT / path).read_text(encoding="utf-8"), test
