"""Published sets of any language pair: the real files under other names."""

import shutil
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.imports import DATASETS, Pair
from annotation.models import Campaign, TestSet
from core.languages import LanguageError, split_pair
from metrics import datasets
from tests.refusals import refused


def relabelled(data_dir: Path, tmp_path: Path, real: str, other: str) -> Path:
    """Put a link to a real folder below another data folder, under another name."""
    link = tmp_path / other
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(data_dir / real, target_is_directory=True)
    return tmp_path


def read(name: str, data: Path) -> tuple[Any, Any]:
    """Return test set and campaign of the only pair."""
    (pair,) = datasets.pairs(name, data)
    (draft,) = datasets.read(name, pair)
    return draft.test_set, draft.campaigns[0]


@pytest.mark.parametrize(("text", "codes"), [
    ("zh-en", ("zh", "en")), ("eng-zho_TW", ("en", "zh-TW")), ("en-pt-BR", ("en", "pt-BR")),
    ("pt-BR-en", ("pt-BR", "en")), ("en-sr_Cyrl_RS", ("en", "sr-Cyrl-RS")),
    ("sah-ru", ("sah", "ru")), ("zh-Hans-en", ("zh-Hans", "en")),
])  # fmt: skip
def test_pairs_are_split_into_languages(text: str, codes: tuple[str, str]) -> None:
    assert split_pair(text) == codes


@pytest.mark.parametrize("text", ["", "en", "wmt17", "en-", "en-q1", "Hans-en", "README"])
def test_what_is_no_pair_is_refused(text: str) -> None:
    with pytest.raises(LanguageError) as caught:
        split_pair(text)
    assert caught.value.message.code == ("language.pair" if text else "language.no-pair")


@pytest.mark.parametrize(("name", "real", "other", "slug", "label", "codes"), [
    ("wmt17", "wmt17/zh-en", "wmt17/cs-en", "wmt17-cs-en", "WMT17 Czech–English", "cs-en"),
    ("wmt17", "wmt17/zh-en", "wmt17/eng-pt_BR", "wmt17-eng-pt_BR",
     "WMT17 English–Brazilian Portuguese", "en-pt-BR"),
    ("da-annotators", "da-annotators/ro-en", "da-annotators/et-en", "mlqe-et-en",
     "MLQE Estonian–English", "et-en"),
    ("calibration-da", "calibration-da/en-zh", "calibration-da/en-ja", "calibration-en-ja",
     "WMT22 calibration English–Japanese", "en-ja"),
    ("wmt21", "raw-crowd-da/wmt21-ru-en", "raw-crowd-da/wmt21-hau-en", "wmt21-hau-en",
     "WMT21 Hausa–English, crowd", "ha-en"),
    ("graham2015", "raw-crowd-da/graham2015", "raw-crowd-da/graham2015-es-en", "graham2015-es-en",
     "Graham et al. 2015, Spanish–English HITs", "es-en"),
    ("appraise-esa", "raw-crowd-da/appraise-esa-en-de", "raw-crowd-da/appraise-esa-en-cs",
     "appraise-esa-en-cs", "WMT23 English–Czech, error span annotation in Appraise", "en-cs"),
    ("mqm-ted", "mqm-ted/zh-en", "mqm-ted/en-de", "mqm-ted-en-de",
     "WMT21 TED English–German, MQM", "en-de"),
    ("spans", "spans/en-de", "spans/en-uk", "wmt23-spans-en-uk-wmt-mqm",
     "WMT23 English–Ukrainian, WMT-MQM", "en-uk"),
])  # fmt: skip
def test_any_pair_of_the_same_layout_is_read(
    data_dir: Path, tmp_path: Path, name: str, real: str, other: str, slug: str, label: str,
    codes: str,
) -> None:  # fmt: skip
    test_set, campaign = read(name, relabelled(data_dir, tmp_path, real, other))
    assert (campaign.slug, campaign.name) == (slug, label)
    assert f"{test_set.source_language}-{test_set.target_language}" == codes


def test_addresses_and_names_of_the_known_pairs_stay(data_dir: Path) -> None:
    found = {}
    for name in DATASETS.keys() - {"graham2015-scores"}:
        for pair in datasets.pairs(name, data_dir):
            (draft,) = datasets.read(name, pair)
            found[draft.campaigns[0].slug] = (draft.campaigns[0].name, draft.test_set.slug)
    assert found == {
        "wmt17-zh-en": ("WMT17 Chinese–English", "wmt17-zh-en"),
        "wmt17-de-en": ("WMT17 German–English", "wmt17-de-en"),
        "mlqe-en-zh": ("MLQE English–Chinese", "mlqe-en-zh"),
        "mlqe-ro-en": ("MLQE Romanian–English", "mlqe-ro-en"),
        "wmt21-ru-en": ("WMT21 Russian–English, crowd", "wmt21-ru-en"),
        "graham2015": ("Graham et al. 2015, Czech–English HITs", "graham2015"),
        "calibration-en-zh": ("WMT22 calibration English–Chinese", "calibration-en-zh"),
        "calibration-zh-en": ("WMT22 calibration Chinese–English", "calibration-zh-en"),
        "mqm-ted-zh-en": ("WMT21 TED Chinese–English, MQM", "mqm-ted-zh-en"),
        "appraise-esa-en-de": (
            "WMT23 English–German, error span annotation in Appraise", "appraise-esa-en-de",
        ),
    }  # fmt: skip


def without_lines(path: Path, *, system: str, segment: str = "") -> None:
    """Delete the rows of a system, or of one output of it."""
    head, *rows = path.read_text(encoding="utf-8").split("\n")
    columns = head.split("\t")
    kept = [
        row
        for row in rows
        if not row
        or row.split("\t")[columns.index("system")] != system
        or segment not in ("", row.split("\t")[columns.index("seg_id")])
    ]
    path.write_text("\n".join([head, *kept]), encoding="utf-8", newline="\n")


def ted(data_dir: Path, tmp_path: Path, *, segment: str = "") -> Path:
    """MQM of TED talks as en-de, without refB or without its translation of a segment."""
    folder = tmp_path / "mqm-ted/en-de"
    shutil.copytree(data_dir / "mqm-ted/zh-en", folder)
    for name in ("outputs.tsv", "annotations.tsv"):
        without_lines(folder / name, system="refB", segment=segment)
    return tmp_path


def test_mqm_without_a_second_reference(data_dir: Path, tmp_path: Path) -> None:
    test_set, campaign = read("mqm-ted", ted(data_dir, tmp_path))
    assert {tuple(segment.references) for segment in test_set.segments} == {("A",)}
    assert len(test_set.systems) == 14
    assert len(campaign.judgments) == 14 * 529


def test_mqm_with_a_reference_that_lacks_a_segment(data_dir: Path, tmp_path: Path) -> None:
    test_set, _ = read("mqm-ted", data_dir)
    first = test_set.segments[0].key
    test_set, campaign = read("mqm-ted", ted(data_dir, tmp_path, segment=first))
    names = {segment.key: tuple(segment.references) for segment in test_set.segments}
    assert names.pop(first) == ("A",)
    assert set(names.values()) == {("A", "B")}
    assert len(campaign.judgments) == 15 * 529 - 1


def test_a_missing_file_is_named(data_dir: Path, tmp_path: Path) -> None:
    folder = tmp_path / "wmt17/cs-en"
    shutil.copytree(data_dir / "wmt17/zh-en", folder)
    (folder / "sys-human.tsv").unlink()
    with refused("published.no-file"):
        read("wmt17", tmp_path)


def test_folders_that_are_no_pairs_are_passed_over(data_dir: Path, tmp_path: Path) -> None:
    relabelled(data_dir, tmp_path, "wmt17/zh-en", "wmt17/cs-en")
    (tmp_path / "wmt17/scripts").mkdir()
    (tmp_path / "wmt17/de-en").write_text("a file")
    assert datasets.pairs("wmt17", tmp_path) == [
        Pair("cs-en", tmp_path / "wmt17/cs-en", "cs", "en")
    ]


def test_one_pair_is_chosen(db: None, data_dir: Path) -> None:
    call_command("import_dataset", "wmt17", pair="de-en", data=data_dir)
    assert [campaign.slug for campaign in Campaign.objects.all()] == ["wmt17-de-en"]
    with refused("command.not-imported", "published.unknown-pairs", kind=CommandError):
        call_command("import_dataset", "wmt17", pair="xx-yy", data=data_dir)


def test_all_goes_on_after_a_missing_and_a_broken_set(
    db: None, data_dir: Path, tmp_path: Path, capsys: Any
) -> None:
    relabelled(data_dir, tmp_path, "da-annotators/ro-en", "da-annotators/et-en")
    relabelled(data_dir, tmp_path, "length-control/en-de", "length-control/en-de")
    for pair in ("de-en", "cs-en"):
        shutil.copytree(data_dir / "wmt17/de-en", tmp_path / "wmt17" / pair)
    (tmp_path / "wmt17/cs-en/seg-human.tsv").write_text("sid\tsystem\thuman_z\n1\tx\ty\n")
    with pytest.raises(CommandError) as caught:
        call_command("import_dataset", all=True, data=tmp_path)
    output, errors = capsys.readouterr()
    assert "Imported: wmt17 de-en, da-annotators et-en, length-control en-de." in output
    assert "wmt17 cs-en: seg-human.tsv, row 2, human_z: “y” " in errors
    (failed, *_) = caught.value.messages
    assert {"wmt17 cs-en", "mqm-ted"} <= {*failed.parameters["names"]}
    assert set(TestSet.objects.values_list("slug", flat=True)) == {
        "wmt17-de-en", "mlqe-et-en", "isometric-en-de",
    }  # fmt: skip
