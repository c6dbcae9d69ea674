"""What a judge was asked and has spent, on the pages of its run and of its metric."""

from typing import Any

from django import template

from extensions.judges import spending, templates
from metrics.base import MetricInfo
from metrics.models import JudgeSpending, MetricRun

register = template.Library()


@register.inclusion_tag("judges/_spending.html")
def judge_spending(run: MetricRun) -> dict[str, Any]:
    """Show what a run of a judge has spent; nothing for other runs."""
    return {
        "run": run,
        "spending": JudgeSpending.objects.filter(run=run).first(),
        "projected": spending.projected(run) if run.is_active else None,
        "prompt": templates.of_judge(run.info),
    }


@register.inclusion_tag("judges/_prompt.html")
def judge_prompt(info: MetricInfo) -> dict[str, Any]:
    """Show what a judge asks; nothing for other metrics."""
    return {"prompt": templates.of_judge(info)}
