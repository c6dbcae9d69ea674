"""The extension that compares campaigns with each other and with published scores."""

from django.utils.translation import gettext_lazy as _

from core.extensions import Extension, Place

EXTENSION = Extension(
    app="extensions.comparison",
    urls="extensions.comparison.page",
    analyses={"compare": "extensions.comparison.document"},
    slow=("compare",),
    study=(
        Place("compare", _("Compare"), "compare", tab=_("Compare with published"), before="report"),
    ),
    pages=(Place("compare", _("Compare campaigns"), before="power"),),
)
