"""Read the outputs of one Pearmut item."""

from collections.abc import Mapping
from html import unescape
from typing import Any

from django.utils.html import strip_tags

from annotation.imports.jsonfiles import missing_key
from annotation.imports.pearmut.findings import Findings
from metaeval.messages import message

ONLY_MODEL = "output"


def read_targets(findings: Findings, value: Mapping[str, Any], path: str) -> dict[str, str]:
    """Return outputs by model; a single text is the output of a model without a name."""
    path = f"{path}.tgt"
    if "tgt" not in value:
        findings.error(path, missing_key("tgt"))
        return {}
    targets = value["tgt"]
    if isinstance(targets, str):
        return {ONLY_MODEL: targets}
    if not findings.is_a(path, targets, dict):
        return {}
    if not targets:
        findings.error(path, message("pearmut.no-outputs", "There are no outputs."))
    return {
        model: text
        for model, text in targets.items()
        if findings.is_a(f"{path}.{model}", text, str)
    }


def plain(html: str) -> str:
    """Return the text of a piece of HTML."""
    return unescape(strip_tags(html))
