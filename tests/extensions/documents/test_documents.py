"""Scores of documents and domains come in, and metrics are compared over documents."""

from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from django.core.management import call_command
from scipy import stats

from annotation.exports import mtme
from annotation.filters import Filters
from annotation.models import Campaign, TestSet
from annotation.uploads import InputFile
from dashboards.panel.panel import read_panel
from extensions.documents.document import compute, has_documents
from metaeval.files import EvalSet, EvalSetScores, read_evalset, write_evalset
from metrics.imported.checking import bring_in, check
from metrics.imported.files import Choices
from metrics.scores import system_scores

NEEDS = {"extensions.documents"}
RNG = np.random.default_rng(7)
SYSTEMS = ("A", "B", "C")
N_DOCUMENTS, LENGTH = 24, 3
NAMES = tuple(f"d{n // LENGTH}" for n in range(N_DOCUMENTS * LENGTH))
DOMAINS = tuple("news" if n < 30 else "chat" for n in range(len(NAMES)))
HUMAN = {name: RNG.normal(size=len(NAMES)) for name in SYSTEMS}
SEGMENTS = {name: HUMAN[name] + RNG.normal(size=len(NAMES)) for name in SYSTEMS}
OWN = {name: RNG.normal(size=N_DOCUMENTS) for name in SYSTEMS}
WHOLE = {name: RNG.normal(size=2) for name in SYSTEMS}


def per_document(values: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: own.reshape(N_DOCUMENTS, LENGTH).mean(axis=1) for name, own in values.items()}


def flat(values: Mapping[str, np.ndarray]) -> np.ndarray:
    return np.concatenate([values[name] for name in SYSTEMS])


@pytest.fixture
def campaign(db: None, tmp_path: Path) -> Campaign:
    evalset = EvalSet(
        name="set",
        language_pair="en-de",
        sources=tuple(f"s{n}" for n in range(len(NAMES))),
        documents=tuple(zip(DOMAINS, NAMES, strict=True)),
        references={},
        outputs={name: tuple(f"{name}{n}" for n in range(len(NAMES))) for name in SYSTEMS},
        human_scores={("h", "seg"): EvalSetScores(HUMAN)},
        metric_scores={
            ("own-src", "seg"): EvalSetScores(SEGMENTS),
            ("own-src", "doc"): EvalSetScores(OWN),
            ("own-src", "domain"): EvalSetScores(WHOLE, ("news", "chat")),
            ("mean-src", "seg"): EvalSetScores(SEGMENTS),
        },
    )
    write_evalset(evalset, tmp_path / "set")
    call_command("import_mtme", tmp_path / "set", stdout=StringIO(), stderr=StringIO(),
                 higher_is_better=["own-src", "mean-src", "h"])  # fmt: skip
    return Campaign.objects.get()


def test_r_and_tau_over_documents_are_those_of_scipy(campaign: Campaign) -> None:
    found = compute(campaign, Filters())
    rows = {row.label: row for row in found.rows}
    assert {label: row.is_own for label, row in rows.items()} == {
        "own-src": True, "mean-src": False,
    }  # fmt: skip
    human = flat(per_document(HUMAN))
    for label, theirs in (("own-src", OWN), ("mean-src", per_document(SEGMENTS))):
        row, scores = rows[label], flat(theirs)
        assert row.r == pytest.approx(stats.pearsonr(human, scores).statistic)
        assert row.tau == pytest.approx(stats.kendalltau(human, scores).statistic)
        assert row.r_low < row.r < row.r_high
        assert row.tau_low < row.tau < row.tau_high
    assert (found.n_documents, found.n_systems, found.n) == (24, 3, 72)
    assert has_documents(campaign)


def with_human_parts(tmp_path: Path) -> Campaign:
    """The same with human scores of documents and domains that are not means."""
    evalset = EvalSet(
        name="set",
        language_pair="en-de",
        sources=tuple(f"s{n}" for n in range(len(NAMES))),
        documents=tuple(zip(DOMAINS, NAMES, strict=True)),
        references={},
        outputs={name: tuple(f"{name}{n}" for n in range(len(NAMES))) for name in SYSTEMS},
        human_scores={
            ("h", "seg"): EvalSetScores(HUMAN),
            ("h", "doc"): EvalSetScores(OWN),
            ("h", "domain"): EvalSetScores(WHOLE, ("news", "chat")),
        },
        metric_scores={("mean-src", "seg"): EvalSetScores(SEGMENTS)},
    )
    write_evalset(evalset, tmp_path / "set")
    command = ("import_mtme", tmp_path / "set")
    out = StringIO()
    call_command(*command, stdout=out, stderr=out, higher_is_better=["mean-src", "h"])
    # The same import again changes nothing.
    call_command(*command, stdout=out, stderr=out, higher_is_better=["mean-src", "h"])
    return Campaign.objects.get()


def test_published_human_scores_of_documents_are_used(db: None, tmp_path: Path) -> None:
    campaign = with_human_parts(tmp_path)
    found = compute(campaign, Filters())
    (row,) = found.rows
    human, scores = flat(OWN), flat(per_document(SEGMENTS))
    assert row.r == pytest.approx(stats.pearsonr(human, scores).statistic)
    assert row.tau == pytest.approx(stats.kendalltau(human, scores).statistic)
    assert found.is_published
    campaign.published_scores.all().delete()
    alone = compute(campaign, Filters())
    assert [(each.r, each.tau) for each in alone.rows] == [(row.r, row.tau)]
    assert {each.code for each in alone.warnings}.isdisjoint({"human.parts-only"})
    assert "human.parts-only" in {each.code for each in read_panel(campaign, Filters()).human.gaps}


def test_a_chosen_part_has_its_published_human_scores(db: None, tmp_path: Path) -> None:
    campaign = with_human_parts(tmp_path)

    def of_systems(**filters: tuple[str, ...]) -> tuple[list[float], bool]:
        human = read_panel(campaign, Filters(**filters)).human
        codes = {note.code for note in human.notes}
        found = dict(zip(human.names, human.of_systems.tolist(), strict=True))
        return [found[name] for name in SYSTEMS], "human.of-part" in codes

    assert of_systems(domains=("chat",)) == ([WHOLE[name][1] for name in SYSTEMS], True)
    assert of_systems(documents=("d3",)) == ([OWN[name][3] for name in SYSTEMS], True)
    values, is_of_part = of_systems(domains=("news", "chat"))
    assert values == pytest.approx([HUMAN[name].mean() for name in SYSTEMS])
    assert not is_of_part


def test_the_export_has_the_human_scores_of_parts(db: None, tmp_path: Path) -> None:
    campaign = with_human_parts(tmp_path)
    for path, lines in mtme.bundle(campaign):
        target = tmp_path / "again" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("".join(lines), encoding="utf-8")
    (root,) = (tmp_path / "again").iterdir()
    again = read_evalset(root, "en-de")
    for level, expected in (("doc", OWN), ("domain", WHOLE)):
        ((name, _),) = [key for key in again.human_scores if key[1] == level]
        values = again.human_scores[name, level].values
        assert {s: v.tolist() for s, v in values.items()} == {
            s: v.tolist() for s, v in expected.items()
        }


def test_a_domain_has_the_imported_scores_of_systems(campaign: Campaign) -> None:
    def given(**filters: tuple[str, ...]) -> dict[str, list[float]]:
        scored = read_panel(campaign, Filters(**filters)).scored
        labels = {key: scored.labels[key] for key in scored.given}
        return {labels[key]: values.tolist() for key, values in scored.given.items()}

    news = {name: WHOLE[name][0] for name in SYSTEMS}
    assert given(domains=("news",)) == {"own-src": [news[name] for name in SYSTEMS]}
    assert given(documents=("d3",)) == {"own-src": [OWN[name][3] for name in SYSTEMS]}
    assert given(domains=("news", "chat")) == given() == {}


FILES = {
    "table": ("scores.csv", "system,document,m\n" + "".join(
        f"{name},d{n},{value}\n" for name in SYSTEMS for n, value in enumerate(OWN[name]))),
    "domains": ("scores.csv", "system,domain,m\n" + "".join(
        f"{name},{domain},{value}\n"
        for name in SYSTEMS for domain, value in zip(("news", "chat"), WHOLE[name], strict=True))),
    "doc": ("m-src.doc.score", "".join(
        f"{name}\t{value}\n" for name in SYSTEMS for value in OWN[name])),
    "domain": ("m-src.domain.score", "".join(
        f"{domain}\t{name}\t{value}\n"
        for name in SYSTEMS for domain, value in zip(("news", "chat"), WHOLE[name], strict=True))),
}  # fmt: skip


def brought(name: str, text: str) -> tuple[TestSet, list[str]]:
    test_set = TestSet.objects.get()
    checked = check(test_set, [InputFile.holding(name, text.encode())], Choices())
    codes = [problem.code for problem in checked.report.errors]
    if not codes:
        bring_in(checked)
    return test_set, codes


@pytest.mark.parametrize("name", FILES)
def test_files_bring_scores_of_parts(campaign: Campaign, name: str) -> None:
    test_set, errors = brought(*FILES[name])
    assert errors == []
    (found,) = [
        each for each in system_scores(test_set, list(test_set.systems.order_by("name")))
        .measures.values() if each.label.startswith("m")
        and not each.label.startswith("mean")
    ]  # fmt: skip
    if name in ("table", "doc"):
        expected = {("document", f"d{n}"): [OWN[s][n] for s in SYSTEMS] for n in range(24)}
    else:
        expected = {
            ("domain", part): [WHOLE[s][n] for s in SYSTEMS]
            for n, part in enumerate(("news", "chat"))
        }
    assert {key: values.tolist() for key, values in found.parts.items()} == expected
    assert np.isnan(found.values).all()
    assert found.systems is None


@pytest.mark.parametrize(
    ("name", "text", "code"),
    [
        ("s.csv", "system,document,m\nA,d1,1\nA,x,2\n", "scores.unknown-documents"),
        ("s.csv", "system,domain,m\nA,news,1\nA,law,2\n", "scores.unknown-domains"),
        ("m-src.doc.score", "A\t1\nA\t2\n", "scores.other-number-of-documents"),
        ("m-src.domain.score", "news\tA\t1\nA\t1\n", "scores.line-not-domain-system-and-score"),
    ],
)
def test_unknown_parts_are_refused(campaign: Campaign, name: str, text: str, code: str) -> None:
    assert brought(name, text)[1] == [code]
