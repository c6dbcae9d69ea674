"""The extension that measures whether metrics penalize short outputs more than humans do."""

from django.utils.translation import gettext_lazy as _

from core.extensions import Extension, Place

EXTENSION = Extension(
    app="extensions.shortness",
    urls="extensions.shortness.across_page",
    analyses={
        "shortness": "extensions.shortness.page",
        "forms": "extensions.shortness.across_page",
    },
    results=(
        Place(
            "shortness",
            _("Shortness"),
            needs="extensions.shortness.page:controls_length",
            before="whatif",
        ),
    ),
    study=(
        Place(
            *("shortness", _("Shorter forms"), "study-shortness"),
            tab=_("MT systems"),
            before="quality",
        ),
    ),
)
