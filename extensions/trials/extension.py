"""The extension that reports the fates of suggested errors and the effects found in a trial."""

from django.utils.translation import gettext_lazy as _

from core.extensions import Extension, Place

EXTENSION = Extension(
    app="extensions.trials",
    urls="extensions.trials.document",
    analyses={"trial": "extensions.trials.document"},
    results=(Place("trial", _("Suggestions"), needs="is_prefilled", before="whatif"),),
)
