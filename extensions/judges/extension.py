"""The extension: language models as judges."""

from core.extensions import Extension

EXTENSION = Extension(
    app="extensions.judges",
    urls="extensions.judges.views",
    api=(("judge-templates", "extensions.judges.api.TemplateViewSet", "api-judge-template"),),
    families={"judge": "extensions.judges.options:FAMILY"},
    fragments={
        "server": "judges/_tab.html",
        "metric": "judges/_metric.html",
        "run": "judges/_run.html",
        "run-start": "judges/_budget.html",
        "estimate": "judges/_estimate.html",
    },
)
