"""Campaigns of other programs and files of judgments, from the modules that read and write them."""

from importlib import import_module

from annotation.exports.formats import FORMATS
from config.reference.markdown import code, table

BEFORE = """# What imports and exports hold

How to import and export: [formats](../formats.md)."""
READ = {"Campaigns of Appraise": "imports.appraise", "Campaigns of Pearmut": "imports.pearmut"}
WRITTEN = {
    "`csv`, `jsonl`, `parquet`, `spans`, `spans-jsonl`": "exports.judgments",
    "`suggestions`": "exports.suggestions",
    "`appraise`, `appraise-header`, `appraise-zip`": "exports.appraise",
    "`pearmut`, `pearmut-log`": "exports.pearmut",
    "`mqm-tsv`": "exports.mqm",
    "`mtme`": "exports.mtme",
}


def write() -> str:
    """Return the page."""
    rows = (
        (code(key), f"{each.label}: {each.about}".replace("<", "&lt;"))
        for key, each in FORMATS.items()
    )
    exports = f"## Exports\n\n{table(('format', ''), rows)}"
    return "\n\n".join([BEFORE, _said("##", READ), exports, _said("###", WRITTEN)])


def _said(level: str, modules: dict[str, str]) -> str:
    """Return a heading and the docstring of each module."""
    said = {title: import_module(f"annotation.{name}").__doc__ for title, name in modules.items()}
    return "\n\n".join(f"{level} {title}\n\n{(text or '').strip()}" for title, text in said.items())
