"""Every page as LaTeX: what TeX refuses, the study's shapes, and numbers read off the page."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from django.test import Client
from django.urls import reverse

from annotation.models import Campaign
from annotation.models.people import Annotator
from dashboards.papers import latex
from dashboards.systems.document import Systems, SystemsChoice, compute
from tests.dashboards.conftest import make_rated
from tests.dashboards.tex import problems
from tests.world import World, make_user

NEEDS = {"extensions.studies", "extensions.comparison", "extensions.layers"}

NASTY = r"50%_& {x} ~^ \input{y} #1 $2 <3> “q” \"r\" `z` a--b -- --- ''"
SYSTEMS = {"strong": "[strong]_1", "middling": "*Система", "weak": r"系统 & \weak"}
PAGES = ("dashboard", "whatif", "samplesize", "correlations", "significance", "layers", "scatter")


@dataclass(frozen=True)
class Written:
    """The LaTeX of every address that has it, and the document behind the MT systems."""

    sources: dict[str, str]
    systems: Systems


_written: list[Written] = []


@pytest.fixture
def written(world: World, client: Client) -> Written:
    """Made once for the whole module: they are plain texts."""
    if not _written:
        campaign = nasty_campaign()
        client.force_login(make_user("reader", "researcher"))
        _written.append(Written(read(campaign, client), compute(campaign, SystemsChoice())))
    return _written[0]


def nasty_campaign() -> Campaign:
    """A campaign whose every name is full of what TeX reads as commands."""
    campaign = make_rated(study="study-1")
    for old, new in SYSTEMS.items():
        campaign.test_set.systems.filter(name=old).update(name=new)
    for annotator in Annotator.objects.filter(campaign=campaign):
        annotator.label = f"{annotator.label} #_{{"
        annotator.save(update_fields=["label"])
    campaign.test_set.segments.filter(document="clinic").update(document="[a_b]%")
    campaign.name = NASTY
    campaign.save(update_fields=["name"])
    return campaign


def read(campaign: Campaign, client: Client) -> dict[str, str]:
    slug, study = campaign.slug, campaign.study
    addresses = {
        **{name: reverse(f"{name}-data", args=[slug, "tex"]) for name in (*PAGES, "systems")},
        "study": reverse("study-data", args=[study, "tex"]),
        "study-layers": reverse("study-layers-data", args=[study, "tex"]),
        "study-systems": reverse("study-systems-data", args=[study, "tex"]),
        "compare": reverse("compare-data", args=["tex"])
        + f"?campaign={slug}&published=cheng2023/en-zh-80",
    }
    found = {name: client.get(address) for name, address in addresses.items()}
    assert {name: answer.status_code for name, answer in found.items()} == dict.fromkeys(found, 200)
    assert all(a["Content-Type"].startswith("application/x-tex") for a in found.values())
    return {name: answer.text for name, answer in found.items()}


def test_nothing_in_any_file_is_refused(written: Written) -> None:
    assert {name: problems(source) for name, source in written.sources.items()} == {
        name: [] for name in written.sources
    }
    # Only layers have nothing to show: no metric here keeps several.
    empty = {name for name, source in written.sources.items() if r"\begin{table}" not in source}
    assert empty == {"layers"}


@pytest.mark.skipif(shutil.which("xelatex") is None, reason="no TeX is installed")
def test_tex_itself_takes_every_file(written: Written, tmp_path: Path) -> None:
    for name, source in written.sources.items():
        for engine in ("xelatex", "pdflatex"):
            if engine == "pdflatex" and "Needs xelatex" in source:
                continue
            assert _run(engine, source, tmp_path) == [], name


def _run(engine: str, source: str, folder: Path) -> list[str]:
    """What TeX complains of."""
    packages = r"\usepackage{booktabs}" + r"\usepackage[T1]{fontenc}" * (engine == "pdflatex")
    document = "\\documentclass{article}\n%s\n\\begin{document}\nx\n%s\\end{document}\n"
    (folder / "paper.tex").write_text(document % (packages, source))
    subprocess.run(
        [engine, "-interaction=nonstopmode", "-halt-on-error", "paper.tex"],
        cwd=folder, capture_output=True, check=False, timeout=300,
    )  # fmt: skip
    log = (folder / "paper.log").read_text(errors="replace")
    return re.findall(r"^! .*|^LaTeX Warning: Command .*", log, re.MULTILINE)


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="no TeX is installed")
def test_pdflatex_takes_every_sign_that_is_not_named(tmp_path: Path) -> None:
    signs = [c for c in map(chr, range(32, 0x2300)) if c.isprintable() and not latex.scripts(c)]
    assert len(signs) > 250
    rows = [latex.texts(sign, f"{sign}{sign}") for sign in signs]
    tables = [latex.Table("c", "l", "ll", [], rows[n : n + 40]) for n in range(0, len(rows), 40)]
    assert _run("pdflatex", latex.write_all(tables), tmp_path) == []
    assert _run("pdflatex", r"a & b_1 \input{x}", tmp_path) != []


@pytest.mark.parametrize(
    ("broken", "given"),
    [
        (r"a & b & c \\", "3 columns of 2"),
        (r"a_1 & b \\", "_ in"),
        (r"a & 50% \\", "a comment begins"),
        (r"a & \input{x} \\", "none of ours"),
        (r"[a] & b \\", "argument of the line before"),
        (r"a & \tau \\", "wrong mode"),
        (r"a & {b \\", "left open"),
        (r"a & \textless b \\", "swallows"),
    ],
)
def test_the_reading_is_strict(broken: str, given: str) -> None:
    table = latex.Table("c", "l", "lr", [latex.texts("a", "b")], [latex.texts("x", "y")])
    source = latex.write(table)
    assert problems(source) == []
    found = problems(source.replace(r"x & y \\", broken))
    assert any(given in fault for fault in found), found


def test_a_campaign_without_a_judgment_has_files_too(world: World, as_researcher: Client) -> None:
    for name in (*PAGES, "systems"):
        answer = as_researcher.get(reverse(f"{name}-data", args=[world.campaign.slug, "tex"]))
        assert (answer.status_code, problems(answer.text)) == (200, []), name


def test_a_rule_stands_under_every_span(written: Written) -> None:
    assert r" & \multicolumn{2}{c}{" in written.sources["compare"]
    found = re.search(r"\\cmidrule\(lr\)\{(\d)-(\d)\}", written.sources["compare"])
    assert found
    longer = rf"\cmidrule(lr){{{int(found[1]) - 1}-{found[2]}}}"
    wrong = written.sources["compare"].replace(found[0], longer)
    assert any("rules" in fault for fault in problems(wrong))


def test_letters_that_need_another_engine_are_named() -> None:
    assert latex.scripts("Zürich, café – Łódź … τ-b “x”") == []
    assert latex.scripts("系统 и λ") == ["CJK", "CYRILLIC", "GREEK"]
    assert latex.scripts("ħŀſ") == ["LATIN"]
    table = latex.Table("é", "l", "l", [], [])
    assert r"% Needs \usepackage[T1]{fontenc} with pdflatex." in latex.write(table)
    table = latex.Table("c", "l", "l", [latex.texts("系统")], [])
    assert "lualatex, and a font with these letters: CJK." in latex.write(table)


def test_numbers_too_small_for_their_places() -> None:
    # As table 10 of the study prints them.
    found = [latex.small_number(value).text for value in (0.0, 7.4e-5, 3.9e-5, 0.019, -7.4e-5)]
    assert found == ["0.000", "7.4e−5", "3.9e−5", "0.019", "−7.4e−5"]


def test_tables_9_and_10_have_the_numbers_of_the_page(written: Written) -> None:
    document, source = written.systems, written.sources["study-systems"]
    assert source.count(r"\begin{table}") == 2
    scores, lengths = source.split(r"\end{table}")[:2]
    assert r" & \multicolumn{1}" not in scores
    assert f" & {_direction(document)} \\\\\n & 80\\% \\\\" in scores
    for column in document.columns:
        assert rf"\multicolumn{{2}}{{l}}{{\textbf{{{column.label}}}}} \\" in scores
        for row in column.rows:
            mark = {"": "", "†": r"$^{\dagger}$", "‡": r"$^{\ddagger}$"}[row.mark]
            value = f"{row.score:.4f}{mark}"
            # Bold is the first where it is significantly better than the second.
            shown = rf"\textbf{{{value}}}" if row.rank == 1 and mark else value
            assert f"{latex.escape(row.system)} & {shown} \\\\" in scores
    for row in document.lengths.rows:
        assert f"{latex.escape(row.system)} & {row.statistic:.3f} \\\\" in lengths


def _direction(document: Systems) -> str:
    return "-".join(part.capitalize() for part in document.direction.split("-"))


def test_the_longer_side_goes_down_the_page(written: Written) -> None:
    """Three systems and two metrics: systems are rows."""
    first = written.sources["systems"].split(r"\end{table}")[0]
    assert r"\begin{tabular}{lrrrrr}" in first
    assert r"System & Human & Cluster & Ranks & " in first
    tau = f"{written.systems.columns[0].tau:.3f}".replace("-", "$-$")
    assert rf"$\tau$-b &  &  &  & {tau} & " in first
