"""The extension that compares campaigns with each other and with published scores."""

from core.extensions import Extension, Place

EXTENSION = Extension(
    app="extensions.comparison",
    urls="extensions.comparison.urls",
    analyses={"compare": "extensions.comparison.document"},
    slow=("compare",),
    study=(Place("compare", "Compare", "compare", tab="Compare with published", before="report"),),
    pages=(Place("compare", "Compare campaigns", before="power"),),
)
