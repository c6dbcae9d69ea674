"""The outputs of one item of Pearmut."""

from collections.abc import Mapping
from html import unescape
from typing import Any

from django.utils.html import strip_tags

from annotation.imports.pearmut.findings import Findings

ONLY_MODEL = "output"


def read_targets(findings: Findings, value: Mapping[str, Any], path: str) -> dict[str, str]:
    """Return model -> output; one text alone is the output of a model without a name."""
    path = f"{path}.tgt"
    if "tgt" not in value:
        findings.error(path, "the key “tgt” is missing")
        return {}
    targets = value["tgt"]
    if isinstance(targets, str):
        return {ONLY_MODEL: targets}
    if not findings.is_a(path, targets, "an object"):
        return {}
    if not targets:
        findings.error(path, "there is no output")
    return {
        model: text
        for model, text in targets.items()
        if findings.is_a(f"{path}.{model}", text, "text")
    }


def plain(html: str) -> str:
    """Return the text of a piece of HTML."""
    return unescape(strip_tags(html))
