"""The extension that writes all tables and figures of a paper on a study."""

from django.utils.translation import gettext_lazy as _

from core.extensions import Extension, Place

EXTENSION = Extension(
    app="extensions.paper",
    needs=("extensions.studies", "extensions.layers"),
    urls="extensions.paper.files",
    analyses={"standings": "extensions.paper.standings"},
    study=(
        Place("paper", _("Tables for the paper"), "study-paper", tab=_("Metrics"), before="wmt"),
    ),
)
