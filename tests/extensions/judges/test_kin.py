"""Which systems are by the maker of a judge's model, as far as names tell."""

import pytest

from extensions.judges.report import kin


@pytest.mark.parametrize(
    ("model", "systems", "found"),
    [
        ("gpt-4o-mini", ["GPT-5", "o3", "ONLINE-B", "mini-transformer"], ["GPT-5", "o3"]),
        ("Qwen/Qwen3-32B-Instruct", ["qwen-mt", "NLLB", "base-instruct"], ["qwen-mt"]),
        ("meta-llama/Llama-3", ["NLLB-200", "Llama4"], ["Llama4", "NLLB-200"]),
        # A name that no list knows.
        ("newmaker-9b", ["NewMaker-MT", "System-A"], ["NewMaker-MT"]),
        ("judge", ["A", "B"], []),
    ],
)
def test_names_tell(model: str, systems: list[str], found: list[str]) -> None:
    assert kin(model, systems) == found
