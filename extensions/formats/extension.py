"""The extension that reads files of other tools."""

from core.extensions import Extension

EXTENSION = Extension(
    app="extensions.formats",
    formats="extensions.formats.declared.FORMATS",
    reference="extensions.formats.reference.sections",
)
