"""Previews of uploads and imports have no English words, whatever is wrong with the files."""

from collections.abc import Sequence
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.uploads.tables.meanings import OWN
from tests.house.pseudo_language import CHINESE, english, pseudo_chinese
from tests.world import World

HEAD = "rater_id\tseg_id\tsys_id\titem_type\tesa_score\tsrc_text\tdoc_id\tmt_output\n"
JUDGMENTS = {
    "right": HEAD + "R1\t1\tA\ttgt\t80\tEins\td1\tOne\nR1\t2\tA\tbad\t10\tZwei\td1\tTwo\n",
    "contradictory": HEAD
    + "R1\t1\tA\ttgt\t80\tEins\td1\tOne\nR1\t1\tA\ttgt\t70\tUno\td2\tOther\n"
    + "R2\t\t\tnope\t101\tEins\td1\tOne\n",
    "of unknown languages": "rater_id\tseg_id\tsys_id\tesa_score\nR1\t1\tA\t80\n",
    "without annotators": "\tseg_id\tno_te\n1\t2\t3\n",
}
SCORES = {
    "right": "seg_id\tsys_id\tmqm\n1\tA\t-1\n2\tA\t0\n1\tB\t-5\n2\tB\t-1\n",
    "contradictory": "seg_id\tsys_id\tda\n1\tA\t1\n1\tA\t2\n\t\tx\n",
    "without scores": "seg_id\tsys_id\tno_te\n1\tA\t1\n",
}
LANGUAGES = {"source_language": "de", "target_language": "en"}
# What the files above hold.
NAMES = (
    "o_n.tsv",
    "Eins",
    "Zwei",
    "Uno",
    "One",
    "Two",
    "Other",
    "Own",
    "nope",
    "vertical tab",
    "replacement character",
    "system:A",
    "admin",
    "Harbour",
    "tgt",
    "strong",
)


def sent(text: str, name: str = "o_n.tsv") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, text.encode())


def words_of(
    client: Client, address: str, data: dict[str, Any], names: Sequence[str] = ()
) -> list[str]:
    client.cookies["django_language"] = CHINESE
    with pseudo_chinese():
        page = client.post(address, data, follow=True)
        assert page.redirect_chain, "no preview"
        return list(english(page.text, (*NAMES, *names)))


def imported(client: Client, tool: str, text: str, **words: str) -> list[str]:
    data = {f"{tool}-{name}": value for name, value in words.items()}
    return words_of(
        client,
        "/campaigns/import/",
        {"tool": tool, f"{tool}-tables": [sent(text)], f"{tool}-name": "Own", **data},
    )


@pytest.mark.parametrize("name", JUDGMENTS)
def test_judgments(world: World, as_admin: Client, name: str) -> None:
    languages = {} if "languages" in name else LANGUAGES
    found = imported(as_admin, "judgments", JUDGMENTS[name], **languages)
    assert found == [], "\n".join(found)


def test_judgments_of_a_stored_test_set(world: World, as_admin: Client) -> None:
    text = (
        "rater_id\tseg_id\tsys_id\tesa_score\tsrc_text\nR1\t1\t\t80\tEins\nR1\t9\tstrong\t80\tUno\n"
    )
    found = imported(as_admin, "judgments", text, test_set="harbour")
    assert found == [], "\n".join(found)


@pytest.mark.parametrize("name", SCORES)
def test_human_scores(world: World, as_admin: Client, name: str) -> None:
    found = imported(as_admin, "human-scores", SCORES[name], **LANGUAGES)
    assert found == [], "\n".join(found)


UPLOADS: dict[str, dict[str, Any]] = {
    "right": {"source": sent("Eins\nZwei\n", "s_e.txt")},
    "of unequal files": {
        "source": sent("Eins\nZwei\n", "s_e.txt"),
        "references": [sent("One\n", "r_e.txt")],
        "systems": [sent("One\nTwo\nOther\n", "w_k.txt")],
    },
    "with faulty texts": {
        "source": sent("Eins\n\nZwei\x0b\n", "s_e.txt"),
        "references": [sent("One\n\nTwo\x00\n", "r_e.txt")],
        "systems": [sent("One\n\ufffd\nTwo\n", "w_k.txt")],
    },
    "of tables": {
        "tables": [
            sent("id,ref_a,reference_D,src_text,system:A,,\n1,One,Uno,Eins,One,,\n", "t.csv"),
            sent("seg_id\tmt_output\n1\tOne\n1\tTwo\n9\tOther\n", "o_n.tsv"),
        ]
    },
    "of XML": {
        "tables": [
            sent('<?xml version="1.0"?><dataset><doc id="d"><src lang="fr">'
                 '<seg id="1">Eins</seg></src></doc></dataset>', "set.xml")
        ]
    },
}  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        *[name for name in UPLOADS if name != "of XML"],
        pytest.param("of XML", marks=pytest.mark.needs("extensions.formats")),
    ],
)
def test_uploads(world: World, as_admin: Client, name: str) -> None:
    for files in UPLOADS[name].values():
        for file in files if isinstance(files, list) else [files]:
            file.seek(0)
    data = {"name": "Own", **LANGUAGES, **UPLOADS[name]}
    # Columns of a table of segments have the names of fields once it is read.
    fields = OWN if "tables" in UPLOADS[name] else ()
    found = words_of(as_admin, "/testsets/upload/", data, [*fields])
    assert found == [], "\n".join(found)
