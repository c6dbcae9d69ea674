"""The extension that compares metrics with humans document by document."""

from django.utils.translation import gettext_lazy as _

from core.extensions import Extension, Place

EXTENSION = Extension(
    app="extensions.documents",
    urls="extensions.documents.page",
    analyses={"documents": "extensions.documents.document"},
    results=(
        Place(
            "documents",
            _("Documents"),
            needs="extensions.documents.document:has_documents",
            before="scatter",
            tab=_("Metrics"),
        ),
    ),
)
