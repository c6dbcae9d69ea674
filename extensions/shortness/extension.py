"""The extension that measures whether metrics penalize short outputs more than humans do."""

from core.extensions import Extension, Place

EXTENSION = Extension(
    app="extensions.shortness",
    urls="extensions.shortness.urls",
    analyses={
        "shortness": "extensions.shortness.document",
        "forms": "extensions.shortness.across",
    },
    results=(Place("shortness", "Shortness", before="whatif"),),
    study=(
        Place(
            *("shortness", "Shorter forms", "study-shortness"), tab="MT systems", before="quality"
        ),
    ),
)
