"""The extension that shows the campaigns of a study, or any campaigns, side by side."""

from django.utils.translation import gettext_lazy as _

from core.extensions import Extension, Place

EXTENSION = Extension(
    app="extensions.studies",
    urls="extensions.studies.views",
    analyses={"wmt": "extensions.studies.wmt"},
    slow=("wmt",),
    study=(
        Place("correlations", _("All campaigns"), "study", tab=_("Metrics")),
        Place("significance", _("Significance"), "study-significance", tab=_("Metrics")),
        Place("printed", _("As papers print it"), "study-printed", tab=_("Metrics")),
        Place("wmt", _("WMT metrics tasks"), "study-wmt", tab=_("Metrics")),
        Place("systems", _("MT systems"), "study-systems", tab=_("MT systems")),
        Place("quality", _("Quality"), "study-quality", tab=_("Quality")),
        Place("report", _("Report"), "study-report", tab=_("Report")),
    ),
    pages=(Place("studies", _("Studies"), before="power"),),
    fragments={"navigation": "studies/_navigation.html"},
)
