"""The classic families keep the contract of plug-ins, and their scores their names."""

import re
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from metrics import conformance, plugins, registry
from metrics.plugins import CONTRACT, GROUP, Plugin
from tests.extensions.neural.reference_free import make

VECTORS = "6 3\nthis 1 0 0\nis 0 1 0\nsentence 0 0.8 0.6\nof 0 0 -1\nmany 1 1 0\n. 0 1 1\n"
REFERENCE = {"compare": "reference"}
# What metrics were signed with before they were plug-ins: stored scores are found by it.
_MADE_WITH = "precision:float32|torch:…|transformers:…"
_VECTORS = "vectors:b1809e8beaaf-b1809e8beaaf|tok:13a-13a"
_YISI = "n:3|alpha:0.8|against:reference|weights:uniform|references:best|revision:"
SIGNATURES = {
    "moverscore": f"checkpoint:checkpoint|checkpoint-weights:…|{_MADE_WITH}|version:v2|idf:no/no"
    "|references:best|revision:3",
    "sentsim": "sentence:checkpoint|sentence-weights:…|token:encoder|token-weights:…|layer:2"
    f"|{_MADE_WITH}|ranges:no|revision:2",
    "yisi": f"checkpoint:checkpoint|checkpoint-weights:…|layer:2|{_MADE_WITH}|{_YISI}2",
    "yisi-static": f"{_VECTORS}|{_YISI}1",
    "yisi-0": f"similarity:letters|tok:13a|{_YISI}1",
    "cosine": f"checkpoint:checkpoint|checkpoint-weights:…|{_MADE_WITH}|against:source|mapping:no"
    "|revision:2",
    "wmd": f"{_VECTORS}|n:1|cost:squared|against:reference|references:best|revision:1",
}


@pytest.fixture
def given(xlmr: str, mbert: str, tmp_path: Path) -> dict[str, dict[str, Any]]:
    """Options of a small metric of each family."""
    path = tmp_path / "words.vec"
    path.write_text(VECTORS, encoding="utf-8")
    vectors = {"vectors": str(path)}
    return {
        "moverscore": {"checkpoint": mbert},
        "sentsim": {"checkpoint": mbert, "encoder": xlmr, "layer": "2"},
        "yisi": {"checkpoint": mbert, "layer": "2", **REFERENCE},
        "yisi-static": vectors | REFERENCE,
        "yisi-0": {},
        "cosine": {"checkpoint": xlmr},
        "wmd": vectors | REFERENCE,
    }


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize("key", SIGNATURES)
def test_each_conforms_and_is_signed_as_before(key: str, given: dict[str, dict[str, Any]]) -> None:
    checked = dict(conformance.check(key, given[key]))
    assert {name: problem for name, problem in checked.items() if problem} == {}
    assert checked.keys() > conformance.CHECKS.keys()
    signature = make(key, **given[key]).signature()
    for option in ("checkpoint", "encoder"):
        signature = signature.replace(f":{given[key].get(option)}|", f":{option}|")
    for part in (r"(-weights):\w{12}", r"(torch|transformers):[\d.]+"):
        signature = re.sub(part, r"\1:…", signature)
    assert signature == f"small|{SIGNATURES[key]}"


def test_they_are_described_as_any_plug_in() -> None:
    found = {
        key: plugins.read(EntryPoint(key, registry.FAMILIES[key], GROUP)) for key in SIGNATURES
    }
    assert {each.error for each in found.values()} == {None}
    for key, each in found.items():
        assert isinstance(each.plugin, Plugin)
        assert (each.key, each.plugin.contract) == (key, CONTRACT)
        assert registry.get_family(key).scorer == each.scorer
    known = {name for name, (info, _) in registry.METRICS.items() if info.family in SIGNATURES}
    assert known == {*("moverscore", "sentsim", "cosine-labse", "yisi-0", "yisi-1", "yisi-2")}
    # They are everywhere, so that no worker reports them and no setting names them.
    assert not set(found) & set(plugins.everywhere())
