"""The extension that shows score differences, difficulty and ensembles of metrics."""

from django.utils.translation import gettext_lazy as _

from core.extensions import Extension, Place

EXTENSION = Extension(
    app="extensions.decisions",
    urls="extensions.decisions.urls",
    analyses={
        "differences": "extensions.decisions.differences",
        "pooled": "extensions.decisions.pooled",
        "difficulty": "extensions.decisions.difficulty",
        "ensemble": "extensions.decisions.ensemble",
    },
    slow=("difficulty", "ensemble", "pooled"),
    results=(
        Place("differences", _("Score differences"), before="scatter", tab=_("Metrics")),
        Place("difficulty", _("Difficulty"), before="scatter", tab=_("Metrics")),
        Place("ensemble", _("Ensemble"), before="scatter", tab=_("Metrics")),
    ),
    study=(
        Place(
            "differences",
            _("Score differences"),
            "study-differences",
            before="wmt",
            tab=_("Metrics"),
        ),
    ),
)
