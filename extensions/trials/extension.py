"""The extension: what became of suggested errors, and what a trial says they change."""

from core.extensions import Extension, Place

EXTENSION = Extension(
    app="extensions.trials",
    urls="extensions.trials.urls",
    analyses={"trial": "extensions.trials.document"},
    results=(Place("trial", "Suggestions and trial", needs="is_prefilled", before="whatif"),),
)
