"""What the tests of reference-free metrics share: literal checks, texts, metrics by options."""

import json
from pathlib import Path
from typing import Any

from metrics import registry
from metrics.base import Metric, SegmentInput


def read_check(data_dir: Path, name: str) -> dict[str, Any]:
    """One check of the specification: inputs, expected, tolerance."""
    path = data_dir.parent / "specs" / "reference-free-checks.json"
    checks = json.loads(path.read_text(encoding="utf-8"))["checks"]
    (found,) = (check for check in checks if check["id"].startswith(f"{name}-"))
    return found  # type: ignore[no-any-return]


SOURCES = [
    "港口整个上午都很安静。",
    "一早船就开走了，没有人看见。",
    "安静",
    "The harbour, 1899",
]
OUTPUTS = [
    "The harbour was quiet all morning.",
    "Ships left early; nobody saw them at all, they said in the morning.",
    "quiet",
    "The harbour, 1899",
]
REFERENCES = [
    "All morning the harbour was quiet.",
    "The ships had left early and nobody saw them.",
    "calm",
    "The harbour in 1899",
]
TEXTS = [*SOURCES, *OUTPUTS, *REFERENCES]
INPUTS = [
    SegmentInput(source, output, (reference,))
    for source, reference in zip(SOURCES, REFERENCES, strict=True)
    for output in OUTPUTS
]


def make(family: str, languages: tuple[str, str] = ("zh", "en"), **options: Any) -> Metric:
    """A metric of a family, configured as an admin would."""
    named = {name.replace("_", "-"): value for name, value in options.items()}
    info = registry.configure(family, "small", "Small", named)
    path = registry.get_family(family).scorer
    return registry.build(info, path, source_language=languages[0], target_language=languages[1])
