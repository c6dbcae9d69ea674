"""What the judges of a project may still spend.

What active runs may still spend counts as spent. A run gets what is left as its budget if it has no
smaller one, so that no run exceeds the limit of its project.
"""

from dataclasses import dataclass

from annotation.models import Project
from metaeval.messages import Message, message
from metrics.base import MetricInfo
from metrics.models import JudgeSpending
from metrics.support import NO_LIMIT, Budget, support_of


@dataclass(frozen=True)
class Spent:
    """Tokens and money of judges; `reserved` includes what active runs may still spend."""

    tokens: int
    money: float
    reserved_tokens: int
    reserved_money: float


def spent(project: Project) -> Spent:
    """Return what the judges of a project have spent and reserved."""
    rows = JudgeSpending.objects.filter(run__test_set__project=project).select_related("run")
    found = list(rows)
    active = [row for row in found if row.run.is_active]
    tokens, money = sum(row.tokens for row in found), sum(row.money for row in found)
    return Spent(
        tokens,
        money,
        tokens + sum(max(0, int(row.left[0] or 0)) for row in active),
        money + sum(max(0.0, row.left[1] or 0.0) for row in active),
    )


def budget_for(project: Project | None, info: MetricInfo, wanted: Budget) -> Budget | Message:
    """Return the budget of the next run of a metric in a project, or why it can have none."""
    support = support_of(info)
    if project is None or not support.has_budget:
        return wanted
    used, tokens, money = spent(project), wanted.tokens, wanted.money
    if project.max_tokens is not None:
        left = project.max_tokens - used.reserved_tokens
        if left <= 0:
            return message(
                "project.tokens",
                "The judges of the project “{project}” may spend {limit} tokens and have spent "
                "{used}. Their active runs may spend {reserved} more. Site admins can change "
                "the limit on the page of the project.",
                project=project.name,
                limit=project.max_tokens,
                used=used.tokens,
                reserved=used.reserved_tokens - used.tokens,
            )
        tokens = left if tokens is None else min(tokens, left)
    is_paid = support.refusal(info, NO_LIMIT) is not None
    if project.max_money is not None and is_paid:
        rest = project.max_money - used.reserved_money
        if rest <= 0:
            return message(
                "project.money",
                "The judges of the project “{project}” may spend {limit} and have spent "
                "{used}. Their active runs may spend {reserved} more. Site admins can "
                "change the limit on the page of the project.",
                project=project.name,
                limit=round(project.max_money, 2),
                used=round(used.money, 2),
                reserved=round(used.reserved_money - used.money, 2),
            )
        money = rest if money is None else min(money, rest)
    return Budget(money=money, tokens=tokens)
