"""Domains of segments: stored from tables, kept by files, and never changed unnoticed."""

import json
import unicodedata
from pathlib import Path

import pytest
from django.test import Client

from annotation.campaign_files import to_values
from annotation.campaign_files.parsing import read as read_file
from annotation.filters import FilterError, Filters
from annotation.filters.chosen import fitted
from annotation.models import Segment, TestSet
from annotation.uploads import InputFile, Report, store
from tests.annotation.uploads.test_upload_tables import check, errors, parameters, warnings
from tests.files.doors import refuses, run
from tests.refusals import refused
from tests.world import make_campaign, make_test_set

TABLE = (
    "segment,source,domain,reference,system:X\n"
    "a,Eins.,news,One,One.\nb,Zwei.,,Two,Two.\nc,Drei.,chat,Three,Three.\n"
)


@pytest.fixture
def stored(db: None) -> TestSet:
    """A test set with two domains, and a segment without one."""
    checked = check(("t.csv", TABLE))
    assert errors(checked) == []
    assert warnings(checked) == []
    store(checked.draft)
    return TestSet.objects.get(slug="set")


def domains() -> dict[str, str]:
    return dict(Segment.objects.filter(test_set__slug="set").values_list("key", "domain"))


def test_a_column_of_domains_is_stored_and_programs_read_it(
    stored: TestSet, as_admin: Client
) -> None:
    assert domains() == {"a": "news", "b": "", "c": "chat"}
    rows = as_admin.get(f"/api/test-sets/{stored.slug}/segments/").json()["results"]
    assert [row["domain"] for row in rows] == ["news", "", "chat"]


def test_a_campaign_file_keeps_domains(stored: TestSet) -> None:
    values = to_values(make_campaign(stored, "kept"))
    read = read_file(InputFile.holding("c.json", json.dumps(values).encode()), report := Report())
    assert report.errors == []
    assert read is not None
    assert {each.key: each.domain for each in read.test_set.segments} == domains()


def test_another_domain_of_a_stored_segment_is_an_error_that_names_it(stored: TestSet) -> None:
    changed = check(("t.csv", TABLE.replace("chat", "talk")))
    assert errors(changed) == [("t.csv, row 4, domain", "stored.domain")]
    assert parameters(changed.report.errors, "stored.domain") == {"segment": "c"}
    added = check(("t.csv", TABLE.replace("Zwei.,,", "Zwei.,law,")))
    assert errors(added) == []
    assert parameters(added.report.warnings, "stored.no-domains") == {"n": 1}
    store(added.draft)
    assert domains() == {"a": "news", "b": "", "c": "chat"}
    assert warnings(check(("t.csv", TABLE))) == []
    without = "\n".join(",".join(row.split(",")[:2] + row.split(",")[3:]) for row in TABLE.split())
    assert errors(check(("t.csv", without))) == []


def test_rows_of_one_segment_have_one_domain(db: None) -> None:
    head, row = "segment,source,genre,system,output\n", "a,Eins.,{},{},One.\n"
    once = check(("t.csv", head + row.format("news", "X") + row.format("chat", "Y")))
    assert errors(once) == [("t.csv, row 3, genre", "segments.domain")]


def test_a_domain_is_one_however_its_letters_are_composed(db: None) -> None:
    split = unicodedata.normalize("NFD", "Café")
    checked = check(("t.csv", f"segment,source,domain,system:X\na,A,Café,B\nb,B,{split},C\n"))
    assert {each.domain for each in checked.draft.segments} == {"Café"}


@pytest.mark.parametrize(
    ("name", "known"), [("documents", {"documents": ("d",)}), ("domains", {"domains": ("news",)})]
)
def test_what_no_campaign_of_several_has_is_refused(
    stored: TestSet, name: str, known: dict[str, tuple[str, ...]]
) -> None:
    """As systems and annotators are; what only others have is not asked of a campaign."""
    stored.segments.filter(key="a").update(document="d")
    other = make_test_set("other")
    other.segments.update(document="e", domain="law")
    both = [make_campaign(stored, "one"), make_campaign(other, "two")]
    (own,) = known.values()
    theirs = {"documents": "e", "domains": "law"}[name]
    asked = Filters(**{name: (*own, theirs)})  # type: ignore[arg-type]
    assert getattr(fitted(both[0], both, asked), name) == own
    assert getattr(fitted(both[1], both, asked), name) == (theirs,)
    with refused("filter.none-here", kind=FilterError, parameter=name):
        fitted(both[0], both, Filters(**{name: (*own, "newz")}))  # type: ignore[arg-type]
    with refused("filter.none-of-chosen", kind=FilterError, parameter=name):
        fitted(both[0], both, Filters(**{name: (theirs,)}))  # type: ignore[arg-type]


@pytest.mark.parametrize("command", ["import_judgments", "import_human_scores"])
def test_tables_of_ratings_keep_domains_and_contradict_none(
    db: None, tmp_path: Path, command: str
) -> None:
    own = {"import_judgments": "annotator\tscore", "import_human_scores": "da_norm"}[command]
    cells = "R\t50" if "\t" in own else "50"
    head = f"segment\tsource\tsystem\toutput\tgenre\t{own}\n"
    table = tmp_path / "set.tsv"
    options = [str(table), "--source-language", "de", "--target-language", "en"]
    options += ["--higher-is-better", "da_norm"] if command == "import_human_scores" else []
    rows = [f"a\tEins.\t{name}\tOne by {name}.\tnews\t{cells}\n" for name in "XY"]
    table.write_text(head + rows[0] + rows[1].replace("news", "chat"))
    with refuses("judgments.other-domain", row=3, field="genre", segment="a"):
        run(command, *options)
    table.write_text(head + "".join(rows))
    run(command, *options)
    assert domains() == {"a": "news"}
