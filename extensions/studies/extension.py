"""The extension that shows the campaigns of a study, or any campaigns, side by side."""

from core.extensions import Extension, Place

EXTENSION = Extension(
    app="extensions.studies",
    urls="extensions.studies.urls",
    study=(
        Place("correlations", "All campaigns", "study", tab="Metrics"),
        Place("significance", "Significance", "study-significance", tab="Metrics"),
        Place("printed", "As papers print it", "study-printed", tab="Metrics"),
        Place("systems", "MT systems", "study-systems", tab="MT systems"),
        Place("quality", "Quality", "study-quality", tab="Quality"),
        Place("report", "Report", "study-report", tab="Report"),
    ),
    pages=(Place("studies", "Studies", before="power"),),
    fragments={"navigation": "studies/_navigation.html"},
)
