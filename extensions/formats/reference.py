"""Sections of the generated documentation: the docstrings of the modules."""

from collections.abc import Iterator

from core.extensions import Section

READ = {
    "Label Studio": "readers.label_studio",
    "doccano": "readers.doccano",
    "Potato": "readers.potato",
    "Mechanical Turk": "readers.mechanical_turk",
    "TMX and XLIFF": "readers.parallel",
    "MLQE and COMET’s assessments": "readers.assessments",
    "MQM": "readers.mqm",
    "WMT’s XML and SGML": "readers.wmt_xml",
    "WMT25 and WMT26": "readers.wmt_documents",
    "Campaigns of Appraise": "appraise",
    "Campaigns of Pearmut": "pearmut",
}
WRITTEN = {
    "`appraise`, `appraise-header`, `appraise-zip`": "exports.appraise",
    "`pearmut`, `pearmut-log`": "exports.pearmut",
    "`mqm-tsv`": "exports.mqm",
}


def sections() -> Iterator[Section]:
    """Yield a section for each module that reads or writes files."""
    for heading, module in READ.items():
        yield Section(f"## {heading}", module=f"extensions.formats.{module}", page="imports")
    for heading, module in WRITTEN.items():
        yield Section(f"### {heading}", module=f"extensions.formats.{module}", page="exports")
