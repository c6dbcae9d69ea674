"""The extension that reads and writes files of other tools."""

from core.extensions import Extension

EXTENSION = Extension(
    app="extensions.formats",
    formats="extensions.formats.declared.FORMATS",
    exports="extensions.formats.exports.declared.FORMATS",
    tools="extensions.formats.tools.TOOLS",
    doors=dict.fromkeys(("appraise", "pearmut"), "annotation.doors.campaigns"),
    reference="extensions.formats.reference.sections",
)
