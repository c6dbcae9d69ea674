"""From four files to the tables and figures of a paper, as docs/seed-study.md says.

The files have the shape of Cheng et al. (2023); numbers are compared with scipy, krippendorff and
plain loops over the same files, shapes with the published tables.
"""

import csv
import json
import re
from io import StringIO
from itertools import product
from pathlib import Path
from typing import Any

import krippendorff
import numpy as np
import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import reverse
from scipy import stats

from annotation.models import Campaign
from annotation.quality.exclusions import exclude_annotator
from tests.dashboards.documents.working import compute_waiting
from tests.dashboards.tex import problems
from tests.extensions.paper import seed
from tests.refusals import refused, tells
from tests.world import make_user

NEEDS = {"extensions.paper"}
COLUMNS = [(direction, ratio) for direction in seed.DIRECTIONS for ratio in seed.RATIOS]
# Layers enough for what the tables show: fewer than 40 of one encoder, more of another.
LAYERS = {"bert-base-multilingual-cased": range(7, 9), "deberta-xlarge-mnli": range(34, 48)}


FEW, FEW_LAYERS = ("BLEURT", "ROUGE1-P", "deberta-xlarge-mnli"), {"deberta-xlarge-mnli": range(3)}


@pytest.fixture(scope="module")
def study() -> seed.Study:
    return seed.make(layers=LAYERS)


def brought(study: seed.Study, folder: Path) -> Path:
    """The four files, imported by the commands of docs/seed-study.md."""
    files = study.write(folder)
    call_command(
        "import_judgments", files["ratings"], files["segments"], files["outputs"],
        study="lengths", question=seed.QUESTION, stdout=StringIO(),
    )  # fmt: skip
    call_command(
        "import_scores", "lengths-en-zh", files["scores"], also=["lengths-zh-en"], stdout=StringIO()
    )
    return folder


@pytest.fixture
def imported(db: None, study: seed.Study, tmp_path: Path) -> Path:
    return brought(study, tmp_path)


@pytest.fixture
def few(db: None, tmp_path: Path) -> Path:
    """The same study with three metrics, one of them with layers."""
    return brought(seed.make(layers=FEW_LAYERS, metrics=FEW), tmp_path)


def read(folder: Path, name: str) -> list[list[str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8-sig", newline="") as lines:
        return list(csv.reader(lines))


def of(rows: list[dict[str, Any]], column: tuple[str, float]) -> list[dict[str, Any]]:
    return [r for r in rows if (r["language_pair"], r["length_ratio"]) == column]


def units(rows: list[dict[str, Any]], *, traps: bool) -> Any:
    """Annotators × units: z-scores by each annotator's own mean and deviation, nan without one."""
    chosen = [r for r in rows if traps or r["kind"] == "TGT"]
    keys = sorted({(r["segment"], r["system"], r["kind"]) for r in chosen})
    people = sorted({r["annotator"] for r in chosen})
    found = np.full((len(people), len(keys)), np.nan)
    for r in chosen:
        unit = keys.index((r["segment"], r["system"], r["kind"]))
        found[people.index(r["annotator"]), unit] = r["score"]
    deviation = found.std(axis=1, ddof=1, keepdims=True)
    return (found - found.mean(axis=1, keepdims=True)) / deviation, keys


def one_vs_rest(z: Any) -> float:
    rest = [np.delete(z, n, axis=0).mean(axis=0) for n in range(len(z))]
    return float(
        np.mean([stats.pearsonr(own, other)[0] for own, other in zip(z, rest, strict=True)])
    )


def human(study: seed.Study, column: tuple[str, float]) -> dict[tuple[str, str], float]:
    """The mean z-score of every judged output; traps are not outputs."""
    z, keys = units(of(study.ratings, column), traps=False)
    return {
        (segment, system): float(v) for (segment, system, _), v in zip(keys, z.mean(0), strict=True)
    }


def scores(
    study: seed.Study, column: tuple[str, float], metric: str
) -> dict[tuple[str, str], float]:
    rows = of(study.scores, column)
    return {(r["segment"], r["system"]): float(r[metric]) for r in rows}


def tau(study: seed.Study, column: tuple[str, float], metric: str) -> float:
    ours, theirs = human(study, column), scores(study, column, metric)
    return float(stats.kendalltau(list(ours.values()), [theirs[key] for key in ours]).statistic)


def limit(study: seed.Study, column: tuple[str, float], metric: str) -> float:
    """Pearson r over infinitely many hybrids: the covariance of what a draw of a system changes."""
    ours, theirs = human(study, column), scores(study, column, metric)
    segments = sorted({segment for segment, _ in ours})
    h = np.array([[ours[s, system] for system in seed.JUDGED] for s in segments])
    m = np.array([[theirs[s, system] for system in seed.JUDGED] for s in segments])
    h, m = h - h.mean(axis=1, keepdims=True), m - m.mean(axis=1, keepdims=True)
    return float((h * m).sum() / np.sqrt((h * h).sum() * (m * m).sum()))


def layout(data_dir: Path, table: str) -> list[list[str]]:
    text = (data_dir.parent / "specs" / "study-tables.json").read_text("utf-8")
    rows = json.loads(text)[table]
    return [[re.sub(r"</?\w+>", "", cell) for cell in row] for row in rows]


@pytest.fixture
def written(imported: Path) -> Path:
    call_command(
        "study_tables", "lengths", to=imported / "paper", here=True, stdout=StringIO(),
        choose=["rounding=half-even", "layer_order=zh-en,en-zh"],
    )  # fmt: skip
    return imported / "paper"


def test_four_files_become_four_campaigns_of_one_study(few: Path) -> None:
    rows = Campaign.objects.filter(study="lengths").order_by("name")
    assert {(c.name, c.test_set.slug, float(c.length_ratio), c.question) for c in rows} == {
        (f"{direction} {ratio:.0%}", f"lengths-{direction}", ratio, seed.QUESTION)
        for direction, ratio in COLUMNS
    }


def test_tables_and_figures_of_the_paper(written: Path, study: seed.Study, data_dir: Path) -> None:
    names = {path.stem for path in written.iterdir()} - {"about"}
    encoders = {"11", "13"}
    assert names == {f"table-{n}" for n in (*map(str, range(2, 11)), *encoders, "annotators")} | {
        f"figure-{n}" for n in (1, 2, 4, 5)
    }
    labels = []
    for path in written.glob("*.tex"):
        source = path.read_text(encoding="utf-8")
        assert problems(source) == [], path.name
        assert source.startswith(f"% lengths-{path.stem}, as of 20"), path.name
        assert source.count(r"\begin{table}") == 1
        labels += re.findall(r"\\label\{(.+?)\}", source)
    assert len(labels) == len(set(labels)) == 12

    _times_and_traps(written, study)
    _agreement(written, study, data_dir)
    _metrics(written, study, data_dir)
    _systems(written, study, data_dir)
    _layers(written, study, data_dir)
    for n in (1, 2, 4, 5):
        # Points of a column of the paper, and letters of 7 pt.
        box = re.search(rb"MediaBox ?\[0 0 (\d+)", (written / f"figure-{n}.pdf").read_bytes())
        assert box
        assert int(box[1]) <= 219
        drawn = (written / f"figure-{n}.svg").read_text(encoding="utf-8")
        assert set(re.findall(r'font-size="([^"]+)"', drawn)) == {"7px"}
        assert 'stroke="black"' in drawn
        assert "…" not in drawn  # names are whole


def _times_and_traps(written: Path, study: seed.Study) -> None:
    head, *body = read(written, "table-2")
    assert head == ["Direction", "Length", "All.Ave.", "Cut.Ave."]
    assert [row[:2] for row in body] == [
        ["En-Zh", "80%"], ["", "50%"], ["Zh-En", "80%"], ["", "50%"],
    ]  # fmt: skip
    for row, column in zip(body, COLUMNS, strict=True):
        rows = of(study.ratings, column)
        times = [np.datetime64(r["submitted_at"][:19]) - np.datetime64(r["started_at"][:19])
                 for r in rows]  # fmt: skip
        assert row[2] == f"{np.mean([t / np.timedelta64(1, 's') for t in times]):.2f}"
        assert float(row[3]) <= float(row[2])
    _, *body = read(written, "table-3")
    assert [row[0] for row in body] == ["En-Zh", "Zh-En"]
    for row, direction in zip(body, seed.DIRECTIONS, strict=True):
        ratings = [of(study.ratings, (direction, ratio)) for ratio in seed.RATIOS]
        zero = [sum(r["kind"] == "TRAP" and r["score"] == 0 for r in own) for own in ratings]
        assert [int(cell) for cell in row[1:3]] == zero
        traps = seed.N_TRAPS * seed.N_ANNOTATORS
        assert [sum(map(int, row[n::2])) for n in (1, 2)] == [traps, traps]


def _agreement(written: Path, study: seed.Study, data_dir: Path) -> None:
    for name, table in (("4", "table4_one_vs_rest"), ("5", "table5_alpha")):
        body, printed = read(written, f"table-{name}")[1:], layout(data_dir, table)[2:]
        assert [row[:2] for row in body] == [row[:2] for row in printed]
        for row, column in zip(body, COLUMNS, strict=True):
            for cell, traps in zip(row[2:], (True, False), strict=True):
                z = units(of(study.ratings, column), traps=traps)[0]
                value = (
                    one_vs_rest(z)
                    if name == "4"
                    else krippendorff.alpha(z, level_of_measurement="interval")
                )
                assert float(cell) == pytest.approx(value, abs=5.1e-5), (name, column, traps)


def _metrics(written: Path, study: seed.Study, data_dir: Path) -> None:
    for name, table, statistic in (
        ("6", "table6_system_pearson", limit), ("7", "table7_segment_kendall", tau),
    ):  # fmt: skip
        body, printed = read(written, f"table-{name}")[1:], layout(data_dir, table)[2:]
        assert [row[0] for row in body] == [row[0] for row in printed]
        assert [len(row) for row in body] == [len(row) for row in printed]
        layers = {row[0]: f"{row[0]} layer.{row[1]}.{row[2][0]}"
                  for row in read(written, "table-8")[1:]}  # fmt: skip
        for row in body:
            if not row[1]:
                continue  # a heading
            metric = layers.get(row[0], row[0])
            values = [statistic(study, column, metric) for column in COLUMNS]
            assert [float(cell) for cell in row[1:]] == pytest.approx(
                [*values, np.mean(values)], abs=5.1e-5
            ), (name, row[0])
        # Only the best of a column is bold, and the headings are.
        source = (written / f"table-{name}.tex").read_text(encoding="utf-8")
        bold = re.findall(r"\\textbf\{([\d.]+)\}", source)
        numbers = [[row[n] for row in body if row[1]] for n in range(1, 6)]
        assert sorted(bold) == sorted(max(column) for column in numbers)


def _systems(written: Path, study: seed.Study, data_dir: Path) -> None:
    body = read(written, "table-9")[1:]
    # The third system has no judgment, and is compared all the same.
    rows = [row[0] for row in body]
    assert rows[1:4] == rows[5:8]
    assert set(rows[1:4]) == set(seed.SYSTEMS)
    assert {rows[0], rows[4]} == {"BLEURT", "wmt20-comet-da"}
    for start, metric in ((1, rows[0]), (5, rows[4])):
        for at, column in enumerate(COLUMNS, 1):
            known = scores(study, column, metric)
            means = {s: np.mean([v for (_, system), v in known.items() if system == s])
                     for s in seed.SYSTEMS}  # fmt: skip
            cells = {row[0]: row[at] for row in body[start : start + 3]}
            for system, cell in cells.items():
                assert float(cell.rstrip("†")) == pytest.approx(means[system], abs=5.1e-5)
            first, second, _ = sorted(means, key=lambda s: -means[s])
            assert not [s for s in cells if s != first and "†" in cells[s]]
            p = paired_bootstrap(known, first, second)
            # A mark stands where p is clearly below .05, and none where it is clearly above.
            if not 0.035 < p < 0.065:
                assert ("†" in cells[first]) == (p < 0.05), (metric, column, p)
    body = read(written, "table-10")[1:]
    exact = next(row for row in body if row[0] == "Target Embedding")
    assert exact[1:] == ["0"] * 4
    printed = layout(data_dir, "table10_length_deviation")[2:]
    assert {row[0] for row in body} == {row[0] for row in printed}
    other = next(row for row in body if row[0] == "Length Embedding")
    for cell, column in zip(other[1:], COLUMNS, strict=True):
        assert float(cell) == pytest.approx(deviation(study, column, other[0]), abs=5.1e-4)


def paired_bootstrap(known: dict[tuple[str, str], float], first: str, second: str) -> float:
    """Two-sided p: how often resampled segments turn the difference, doubled."""
    segments = sorted({segment for segment, _ in known})
    gaps = np.array([known[s, first] - known[s, second] for s in segments])
    rng = np.random.default_rng(7)
    drawn = gaps[rng.integers(len(gaps), size=(20_000, len(gaps)))].mean(axis=1)
    return float(np.mean(np.abs(drawn - gaps.mean()) >= gaps.mean()))


def deviation(study: seed.Study, column: tuple[str, float], system: str) -> float:
    is_chinese = column[0].endswith("zh")
    size = len if is_chinese else lambda text: len(text.split())
    full = {r["segment"]: size(r["reference"]) for r in study.segments}
    rows = [r for r in of(study.outputs, column) if r["system"] == system]
    found = [(size(r["output"]), max(1, round(column[1] * full[r["segment"]]))) for r in rows]
    return float(np.mean([abs(own - goal) / goal for own, goal in found]))


def _layers(written: Path, study: seed.Study, data_dir: Path) -> None:
    turned = [*COLUMNS[2:], *COLUMNS[:2]]
    for number, encoder in (("11", "bert-base-multilingual-cased"), ("13", "deberta-xlarge-mnli")):
        head, *body = read(written, f"table-{number}")
        assert head == ["", "Zh-En: 80%", "Zh-En: 50%", "En-Zh: 80%", "En-Zh: 50%", "Ave."]
        every = list(product(LAYERS[encoder], seed.PARTS))
        assert len(body) == min(40, len(every))
        averages = [float(row[-1]) for row in body]
        assert averages == sorted(averages, reverse=True)
        name, *cells = body[0]
        values = [limit(study, column, f"{encoder} {name}") for column in turned]
        assert [float(c) for c in cells] == pytest.approx([*values, np.mean(values)], abs=5.1e-5)
        best = {
            f"layer.{layer}.{part}": np.mean(
                [limit(study, column, f"{encoder} layer.{layer}.{part}") for column in COLUMNS]
            )
            for layer, part in every
        }
        assert name == max(best, key=lambda each: best[each])
        assert all(re.fullmatch(r"layer\.\d+\.[PRF]", row[0]) for row in body)
        row = next(row for row in read(written, "table-8")[1:] if row[0] == encoder)
        assert f"layer.{row[1]}.{row[2][0]}" == name
    assert layout(data_dir, "table8_layers")[0] == read(written, "table-8")[0]


def test_choices_change_the_tables(few: Path) -> None:
    """Layers as scored, another order of languages, other metrics and fewer layers."""
    folder, study = few / "other", seed.make(layers=FEW_LAYERS, metrics=FEW)
    call_command(
        "study_tables", "lengths", to=folder, here=True, stdout=StringIO(),
        choose=["layers=scored", "order=zh-en", "top=5", "table9=imported-rouge1-p", "marked=each"],
    )  # fmt: skip
    assert not (folder / "table-8.csv").exists()
    head, *body = read(folder, "table-6")
    assert head[1:3] == ["Zh-En: 80%", "Zh-En: 50%"]
    row = next(row for row in body if row[0] == "deberta-xlarge-mnli")
    own = limit(study, ("zh-en", 0.8), "deberta-xlarge-mnli")
    assert float(row[1]) == pytest.approx(own, abs=5.1e-5)
    assert len(read(folder, "table-13")) == 6
    assert read(folder, "table-9")[1][0] == "ROUGE1-P"
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    assert about["choices"]["layers"] == "scored"
    assert set(about["campaigns"]) == set(
        Campaign.objects.filter(study="lengths").values_list("slug", flat=True)
    )


def test_the_page_answers_202_until_all_is_of_one_state(
    few: Path, client: Client, settings: Any
) -> None:
    settings.ANALYSES_IN_PLACE = False
    client.force_login(make_user("reader", "researcher"))
    page = reverse("study-paper", args=["lengths"])
    addresses = [
        reverse("study-paper-file", args=["lengths", name, fmt])
        for name, fmt in (("all", "zip"), ("table-6", "tex"), ("table-6", "csv"),
                          ("figure-1", "svg"))
    ]  # fmt: skip
    assert client.get(page).status_code == 200
    waiting = [client.get(each) for each in addresses]
    assert [(each.status_code, each["Retry-After"]) for each in waiting] == [(202, "2")] * 4
    compute_waiting()
    for address in addresses:
        assert client.get(address).status_code == 200, address
    text = client.get(page).text
    assert text.count("<table") >= 10
    # A campaign changes: no file mixes its states.
    campaign = Campaign.objects.filter(study="lengths").first()
    assert campaign is not None
    first = campaign.annotators.order_by("pk").first()
    assert first is not None
    exclude_annotator(annotator=first, actor=None, reason="careless")
    client.get(page)
    compute_waiting(only_quick=True)
    assert {client.get(each).status_code for each in addresses} <= {200, 202}
    compute_waiting()
    assert client.get(addresses[0]).status_code == 200
    for name, fmt in (("table-99", "tex"), ("figure-9", "pdf"), ("table-6", "pdf")):
        wrong = reverse("study-paper-file", args=["lengths", name, fmt])
        assert client.get(wrong).status_code == 404
    wrong_values = (
        "layers=other",
        "top=many",
        "level=none",
        "order=de-en",
        "table9=x",
        "color=red",
    )
    for query in wrong_values:
        assert client.get(f"{page}?{query}").status_code == 400


def small(folder: Path) -> tuple[list[str], str]:
    """Ratings, texts and outputs of two systems at two lengths by one person, and scores."""
    cells = [(f"s{n}", name, ratio) for n in range(3) for name in "AB" for ratio in (0.8, 0.5)]
    files = {
        "ratings.tsv": [
            ("language_pair", "length_ratio", "annotator", "segment", "system", "score"),
            *(("en-zh", ratio, "w1", key, name, 50) for key, name, ratio in cells),
        ],
        "segments.tsv": [
            ("language_pair", "segment", "source", "reference"),
            *(("en-zh", f"s{n}", f"Number {n}.", f"第{n}。") for n in range(3)),
        ],
        "outputs.tsv": [
            ("language_pair", "segment", "system", "length_ratio", "output"),
            *(("en-zh", *cell, f"第{n}个。") for n, cell in enumerate(cells)),
        ],
        "scores.tsv": [
            ("segment", "system", "length_ratio", "chrF"),
            *((*cell, n / 12) for n, cell in enumerate(cells)),
        ],
    }
    for name, rows in files.items():
        lines = ("\t".join(map(str, row)) for row in rows)
        (folder / name).write_text("\n".join(lines), encoding="utf-8")
    *judged, scores = (str(folder / name) for name in files)
    return judged, scores


def test_a_folder_that_cannot_be_made_and_layers_of_one_pair_alone(
    db: None, tmp_path: Path
) -> None:
    files = seed.make(layers=FEW_LAYERS, metrics=FEW).write(tmp_path)
    call_command(
        "import_judgments", files["ratings"], files["segments"], files["outputs"],
        study="lengths", stdout=StringIO(),
    )  # fmt: skip
    call_command("import_scores", "lengths-en-zh", files["scores"], stdout=StringIO())
    with refused("command.file", kind=CommandError):
        call_command("study_tables", "lengths", to=files["scores"], here=True, stdout=StringIO())
    to = tmp_path / "paper"
    call_command("study_tables", "lengths", to=to, here=True, stdout=StringIO())
    about = json.loads((to / "about.json").read_text(encoding="utf-8"))
    assert "13" in about["tables"]
    assert "8" not in about["tables"]
    assert [tells(each, "paper.no-best-layer") for each in about["missing"]] == [True]


def test_what_a_study_lacks_is_named_and_new_data_are_waited_for(db: None, tmp_path: Path) -> None:
    judged, scores = small(tmp_path)
    call_command("import_judgments", *judged, study="small", stdout=StringIO())
    to = tmp_path / "paper"

    def about() -> Any:
        call_command("study_tables", "small", to=to, here=True, stdout=StringIO())
        return json.loads((to / "about.json").read_text(encoding="utf-8"))

    before = about()
    assert before["tables"].keys() == {"annotators", "10"}
    assert (len(before["missing"]), before["figures"]) == (6, {})
    page = Client()
    page.force_login(make_user("reader", "researcher"))
    shown = page.get(reverse("study-paper", args=["small"]))
    assert [each.text for each in shown.context["missing"]] == before["missing"]
    test_set = Campaign.objects.filter(study="small").values_list("test_set__slug", flat=True)[0]
    call_command("import_scores", test_set, scores, stdout=StringIO())
    after = about()
    assert after["as_of"] >= before["as_of"]
    assert {"6", "7", "9"} <= after["tables"].keys()


def test_a_table_over_different_segments_says_so(db: None, tmp_path: Path) -> None:
    judged, scores = small(tmp_path)
    lines = (tmp_path / "scores.tsv").read_text(encoding="utf-8").splitlines()
    (tmp_path / "scores.tsv").write_text("\n".join(lines[:-1]), encoding="utf-8")
    call_command("import_judgments", *judged, study="small", stdout=StringIO())
    test_set = Campaign.objects.filter(study="small").values_list("test_set__slug", flat=True)[0]
    call_command("import_scores", test_set, scores, stdout=StringIO())
    to = tmp_path / "paper"
    call_command("study_tables", "small", to=to, here=True, stdout=StringIO())
    about = json.loads((to / "about.json").read_text(encoding="utf-8"))
    assert "the 2 to 3 segments" in about["tables"]["9"]
