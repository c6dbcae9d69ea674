"""Judges: templates, replies, spending of runs, and connections in use."""

import re

from django.conf import settings
from django.core.validators import MinValueValidator
from django.db import models
from django.db.models.functions import Now

from core.messages import invalid
from metrics.models.runs import MetricRun

# What a template may ask for; judges describe the same kinds without Django.
KINDS = [
    ("score", "one number from 0 to 100"),
    ("spans", "error spans with severities (MQM)"),
    ("pairs", "which of two outputs is better"),
    ("lists", "all outputs of a segment in order"),
    ("stars", "one to five stars"),
    ("classes", "one of several classes"),
    ("lines", "errors in lines under severities (GEMBA-MQM)"),
    ("esa", "error spans, then a number given these (ESA)"),
]


def validate_template_name(name: str) -> None:
    """Refuse a name that cannot be part of an address and of a metric's name."""
    if not re.fullmatch(r"[a-z0-9][a-z0-9-]*", name):
        raise invalid(
            "judge.template-name-invalid",
            "Use only a–z, 0–9 and - in the name, and begin with a letter or digit.",
        )


class JudgeTemplate(models.Model):
    """One version of a template that people wrote. Rows are never changed."""

    name = models.CharField(
        max_length=40,
        validators=[validate_template_name],
    )
    version = models.PositiveIntegerField(validators=[MinValueValidator(1)])
    kind = models.CharField(max_length=10, choices=KINDS)
    system = models.TextField(blank=True)
    user = models.TextField()
    classes = models.JSONField(default=list, blank=True)
    examples = models.JSONField(default=list, blank=True)
    second = models.TextField(blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["name", "version"]
        constraints = [
            models.UniqueConstraint(fields=["name", "version"], name="judge_template_once")
        ]

    def __str__(self) -> str:
        return f"{self.name}@{self.version}"


class JudgeReply(models.Model):
    """The reply of a server to a question, word for word. Rows are never changed.

    `key` is a SHA-256 of the question; `attempt` counts the replies to one question from 1. `run`
    is the run that paid. `served` is the model that the reply names.
    """

    key = models.CharField(max_length=64)
    attempt = models.PositiveSmallIntegerField()
    run = models.ForeignKey(
        MetricRun, models.SET_NULL, null=True, blank=True, related_name="replies"
    )
    status = models.PositiveSmallIntegerField()
    body = models.TextField()
    served = models.CharField(max_length=200, blank=True)
    prompt_tokens = models.PositiveIntegerField(default=0)
    completion_tokens = models.PositiveIntegerField(default=0)
    seconds = models.FloatField(default=0)
    at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["key", "attempt"]
        constraints = [
            models.UniqueConstraint(fields=["key", "attempt"], name="judge_reply_once"),
        ]

    def __str__(self) -> str:
        return f"{self.key[:12]}#{self.attempt}"


class JudgeSpending(models.Model):
    """The budget and spending of a judge's run; prices are those at its start.

    Updated in the transaction that stores the replies. `characters` are those of the prompts,
    `reread` counts replies that were already stored, `lost` calls without a reply. `report`
    describes the verdicts of the judge so far.
    """

    run = models.OneToOneField(MetricRun, models.CASCADE, primary_key=True, related_name="spending")
    endpoint = models.CharField(max_length=40)
    model = models.CharField(max_length=200)
    currency = models.CharField(max_length=10)
    prompt_price = models.FloatField(default=0)
    completion_price = models.FloatField(default=0)
    priced_on = models.CharField(max_length=20, blank=True)
    budget_money = models.FloatField(null=True, blank=True)
    budget_tokens = models.PositiveBigIntegerField(null=True, blank=True)
    calls = models.PositiveIntegerField(default=0)
    reread = models.PositiveIntegerField(default=0)
    lost = models.PositiveIntegerField(default=0)
    characters = models.PositiveBigIntegerField(default=0)
    prompt_tokens = models.PositiveBigIntegerField(default=0)
    completion_tokens = models.PositiveBigIntegerField(default=0)
    report = models.JSONField(default=dict)

    def __str__(self) -> str:
        return f"spending of run {self.run_id}"

    @property
    def tokens(self) -> int:
        """All tokens that were counted."""
        return self.prompt_tokens + self.completion_tokens

    @property
    def is_paid(self) -> bool:
        """Whether a token costs anything."""
        return self.prompt_price > 0 or self.completion_price > 0

    @property
    def money(self) -> float:
        """The cost, in `currency`."""
        spent = self.prompt_tokens * self.prompt_price
        return (spent + self.completion_tokens * self.completion_price) / 1e6

    @property
    def left(self) -> tuple[float | None, float | None]:
        """The rest of the budget: tokens and money; None without a limit."""
        tokens = None if self.budget_tokens is None else self.budget_tokens - self.tokens
        money = None if self.budget_money is None else self.budget_money - self.money
        return tokens, money


class JudgeConnection(models.Model):
    """One of the connections that an endpoint allows, over all workers; free once it expires."""

    endpoint = models.CharField(max_length=40)
    number = models.PositiveSmallIntegerField()
    holder = models.CharField(max_length=40, blank=True)
    expires_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["endpoint", "number"]
        constraints = [
            models.UniqueConstraint(fields=["endpoint", "number"], name="judge_connection_once")
        ]

    def __str__(self) -> str:
        return f"{self.endpoint} {self.number}"
