"""WMT's XML and SGML: texts as sacreBLEU reads them, faults by file and line, nothing half read."""

import io
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from sacrebleu.dataset.fake_sgml import FakeSGMLDataset
from sacrebleu.dataset.wmt_xml import WMTXMLDataset

from annotation.uploads import InputFile, Report, Submission, SystemFile, TestSetDraft
from annotation.uploads.drafts import REFERENCE, SOURCE
from annotation.uploads.readers import read
from extensions.formats.readers.wmt_xml import is_wmt
from tests.world import World

DOCUMENTS = {"news.1": 3, "news.2": 2, "talk": 4}
ODD = ["A & B < C", 'He said “no”: "1 > 0"', "Привет, мир", "你好。", "", "x" * 500]


def texts(of: str) -> dict[tuple[str, int], str]:
    keys = [(doc, n) for doc, size in DOCUMENTS.items() for n in range(1, size + 1)]
    odd = [each for each in ODD if each or of == "strong"]
    return {key: f"{of} {key[0]} {odd[n % len(odd)]}".strip() for n, key in enumerate(keys)}


def segments(of: str, doc: str) -> str:
    rows = [(n, text) for (own, n), text in texts(of).items() if own == doc]
    return "<p>\n" + "".join(f'<seg id="{n}">{escape(text)}</seg>\n' for n, text in rows) + "</p>\n"


def as_xml(*, systems: tuple[str, ...] = ("strong", "weak"), references: str = "AB") -> str:
    body = ""
    for doc in DOCUMENTS:
        body += f'<doc origlang="de" id={quoteattr(doc)} domain="news">\n'
        body += f'<src lang="de">{segments("source", doc)}</src>\n'
        for name in references:
            body += f'<ref lang="en" translator="{name}">{segments("ref" + name, doc)}</ref>\n'
        for name in systems:
            body += f'<hyp system="{name}" language="en">{segments(name, doc)}</hyp>\n'
        body += "</doc>\n"
    suite = (
        '<doc id="suite" origlang="de" testsuite="x"><src lang="de"><seg id="1">S</seg></src></doc>'
    )
    return (
        f"<?xml version='1.0' encoding='utf-8'?>\n"
        f'<dataset id="set"><collection id="general">\n{body}{suite}</collection></dataset>\n'
    )


def as_sgml(kind: str, of: str, sysid: str) -> str:
    body = "".join(
        f'<doc sysid="{sysid}" docid="{doc}" origlang="de">\n{segments(of, doc)}</doc>\n'
        for doc in DOCUMENTS
    )
    return f'<{kind} setid="set" srclang="any" trglang="en">\n{body}</{kind}>\n'


def file(name: str, text: str) -> InputFile:
    return InputFile.holding(name, text.encode())


def reading(**files: object) -> tuple[TestSetDraft, Report]:
    report = Report()
    submission = Submission("set", "Set", "de", "en", **files)  # type: ignore[arg-type]
    return read(submission, report).draft, report


def columns(draft: TestSetDraft) -> dict[str, list[str]]:
    found = {
        "src": [each.source for each in draft.segments],
        "docid": [each.document for each in draft.segments],
    }
    if any(each.domain for each in draft.segments):
        found["domain"] = [each.domain for each in draft.segments]
    for name in ("A", "B"):
        if any(name in each.references for each in draft.segments):
            found[f"ref:{name}"] = [each.references.get(name, "") for each in draft.segments]
    for system in draft.systems:
        found[system.name] = [system.outputs[each.key] for each in draft.segments]
    return found


@pytest.mark.parametrize("role", ["tables", "source"])
def test_xml_is_read_as_by_sacrebleu(db: None, role: str) -> None:
    xml = file("set.xml", as_xml())
    draft, report = reading(**{role: xml if role == "source" else [xml]})
    assert report.errors == []
    expected = WMTXMLDataset._unwrap_wmt21_or_later(io.BytesIO(as_xml().encode()))
    del expected["origlang"]
    assert columns(draft) == {
        name: [text or "" for text in each] for name, each in expected.items()
    }
    assert [each.key for each in draft.segments][:4] == [
        "news.1:1",
        "news.1:2",
        "news.1:3",
        "news.2:1",
    ]
    assert ("marked.suites", {"n": 1}) in [
        (each.code, each.message.parameters) for each in report.notes
    ]


def test_sgml_is_read_as_by_sacrebleu(db: None, tmp_path: Path) -> None:
    """Three files, as WMT had them; sacreBLEU leaves entities as they are."""
    names = {"src": "srcset", "ref": "refset", "hyp": "tstset"}
    parts = {"src": "source", "ref": "refA", "hyp": "weak"}
    files = {
        name: file(
            f"set.{name}.sgm", as_sgml(kind, parts[name], "uedin.1" if name == "hyp" else "ref")
        )
        for name, kind in names.items()
    }
    draft, report = reading(
        source=files["src"], references=[files["ref"]],
        systems=[SystemFile(files["hyp"], "set.hyp.sgm")],
    )  # fmt: skip
    assert report.errors == []
    found = columns(draft)
    assert found.keys() == {"src", "docid", "ref:A", "uedin.1"}
    for name, column in {"src": "src", "ref": "ref:A", "hyp": "uedin.1"}.items():
        given, plain = tmp_path / f"{name}.sgm", tmp_path / f"{name}.txt"
        given.write_bytes(files[name].open().read())
        FakeSGMLDataset._convert_format(FakeSGMLDataset("x", [], None), str(given), str(plain))
        lines = plain.read_text().splitlines()
        assert [escape(text) for text in found[column]] == lines


def test_outputs_alone_and_loose_ampersands(db: None) -> None:
    text = (
        as_sgml("tstset", "weak", "base")
        .replace("&amp;", "&")
        .replace("A & B", "AT&T &copy B&amp;C")
    )
    draft, _ = reading(tables=[file("base.sgm", text)])
    (system,) = draft.systems
    assert (system.name, len(system.outputs)) == ("base", 9)
    assert "AT&T &copy B&C < C" in system.outputs["news.1:1"]


@pytest.mark.parametrize(
    ("change", "row", "code"),
    [
        (lambda text: text[: len(text) // 2], None, "marked.xml"),
        (lambda text: text.replace("&amp;", "&"), 5, "marked.xml"),
        (
            lambda text: text.replace("<dataset", '<!DOCTYPE d [<!ENTITY a "b">]>\n<dataset'),
            None,
            "marked.entities",
        ),
        (lambda text: text.replace('<seg id="2">', '<seg id="1">', 1), 6, "marked.twice"),
        (lambda text: text.replace('<seg id="2">', "<seg>", 1), 6, "marked.segment-id"),
        (lambda text: text.replace('id="news.1"', "", 1), None, "marked.document-id"),
        (lambda text: text.replace(' system="weak"', "", 1), 28, "marked.no-system"),
        (lambda text: "<?xml version='1.0'?><page><p/></page>", None, "marked.no-segments"),
        (lambda text: text.replace("refA talk 你好。", "y" * 100_001), None, "text.too-long"),
    ],
)  # fmt: skip
def test_errors_of_xml(db: None, change: object, row: int | None, code: str) -> None:
    _, report = reading(tables=[file("set.xml", change(as_xml()))])  # type: ignore[operator]
    (error, *_) = [each for each in report.errors if each.code == code]
    assert row in (None, error.place.row)


def test_sgml_that_is_cut_off_and_files_that_do_not_fit(db: None) -> None:
    source = as_sgml("srcset", "source", "src")
    _, report = reading(source=file("src.sgm", source[:-60]))
    assert "marked.cut-off" in [each.code for each in report.errors]
    other = as_xml(references="").replace("source news.1", "other news.1", 1)
    _, report = reading(tables=[file("a.xml", as_xml(systems=())), file("b.xml", other)])
    assert [(str(each.place), each.code) for each in report.errors] == [
        ("b.xml, row 5, source", "marked.other-source")
    ]
    _, report = reading(tables=[file("ref.sgm", as_sgml("refset", "refA", "ref"))])
    assert "marked.no-sources" in [each.code for each in report.errors]


def test_sgml_that_names_no_system_is_refused(db: None) -> None:
    _, report = reading(tables=[file("mt.sgm", as_sgml("tstset", "weak", ""))])
    error = report.errors[0]
    assert (str(error.place), error.code) == ("mt.sgm, row 2, doc", "marked.no-sysid")


def test_other_languages_than_those_of_the_test_set_are_a_warning(db: None) -> None:
    swapped = as_xml().replace('"de"', '"eng"').replace('lang="en"', 'lang="German"')
    _, report = reading(tables=[file("set.xml", swapped.replace('uage="en"', 'uage="en-GB"'))])
    assert [(each.place.row, each.message.parameters) for each in report.warnings] == [
        (4, {"kind": SOURCE, "stated": "eng", "language": "de"}),
        (10, {"kind": REFERENCE, "stated": "German", "language": "en"}),
    ]
    assert reading(tables=[file("set.xml", as_xml())])[1].warnings == []


def test_a_plain_text_may_begin_with_a_comment(db: None) -> None:
    lines = "<!-- draft -->\nzwei\n"
    draft, report = reading(source=file("source.txt", lines))
    assert [each.source for each in draft.segments] == ["<!-- draft -->", "zwei"]
    commented = "<!-- ours -->\n" + as_sgml("srcset", "source", "src")
    assert len(reading(source=file("source.sgm", commented))[0].segments) == 9
    assert report.errors == []


def test_a_text_of_comments_alone_is_looked_through_once() -> None:
    """Tried in every way, 2 to the power of their number, this would not end."""
    assert not is_wmt("x", "<!-- one --> " * 60 + "two")
    assert is_wmt("x", "<!-- one --> " * 60 + "<srcset>")


def test_a_system_in_a_file_of_its_own_repeats_the_sources(db: None) -> None:
    """As systems are submitted to WMT."""
    files = [file(f"{n}.xml", as_xml(systems=(n,), references="")) for n in ("strong", "weak")]
    draft, report = reading(tables=[file("set.xml", as_xml(systems=())), *files])
    assert report.errors == []
    assert [(each.name, len(each.outputs)) for each in draft.systems] == [
        ("strong", 9),
        ("weak", 9),
    ]
    assert draft.systems[0].outputs["talk:4"] == texts("strong")["talk", 4]
    assert [set(each.references) for each in draft.segments] == [{"A", "B"}] * 9


def test_the_page_takes_it_as_the_source(world: World, as_admin: Client) -> None:
    words = {
        "name": "Set", "slug": "set", "source_language": "de", "target_language": "en",
        "source": SimpleUploadedFile("set.xml", as_xml().encode()),
    }  # fmt: skip
    page = as_admin.post(reverse("testset-upload"), words, follow=True)
    assert page.status_code == 200
    for text in ("strong", "weak", "refB news.1", "read as WMT"):
        assert text in page.text
