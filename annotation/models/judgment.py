"""Judgments, which are only ever added, and human scores published by others."""

from django.db import models
from django.db.models import F, FloatField, Q
from django.db.models.functions import Cast, Coalesce
from django.utils.translation import gettext_lazy as _

from annotation.models.assignment import Assignment
from annotation.models.campaign import Campaign
from annotation.models.corpus import Output, System
from annotation.protocols.composed import MOST_VALUE

# Of the usual scale; own ones lie within MOST_VALUE of zero.
MAX_SCORE = 100
# What analyses use of a judgment: the score given, or minus the penalty of its spans.
VALUE = Coalesce(Cast("score", FloatField()), -F("penalty"))


class Judgment(models.Model):
    """One answer to one assignment: a score on its campaign's scale, usually from 0 to 100, or the
    penalty of its error spans.

    A revised answer is a new row with the next `revision`; the older row stays and loses only
    its `is_current` mark. `submit_key` comes from the browser, so that a repeated submit of the
    same form finds its first result instead of adding another. Imported judgments may lack times.
    `ratings` holds the values of a campaign's own scales by name, the first of which is `score`
    too, and `choices` what was chosen by name; `post_edit` is the text that was asked for, None
    where there was none, and `hter` the edits from the output to it in percent.

    Three clocks are kept apart. The server's: `started_at` is when the item was issued, or the
    answer before it given; `submitted_at` is when the answer came, less the time that the browser
    says it waited for a connection, but not before `started_at`. The browser's, as reported and
    never trusted:
    `visible_ms` that the page was in sight, `active_ms` that somebody was at work on it. And
    `paid_ms`: the server's time, at most the campaign's cap, shared among the `sent_together`
    answers of one screen. `time_doubt` names what is impossible about a report.
    """

    class TimeDoubt(models.TextChoices):
        NONE = "", "None"
        LONGER = "longer", _("More reported than passed on the server")
        ORDER = "order", _("More active than visible")
        MISSING = "missing", _("Nothing reported")

    assignment = models.ForeignKey(Assignment, models.PROTECT, related_name="judgments")
    revision = models.PositiveIntegerField(default=1)
    is_current = models.BooleanField(default=True)
    score = models.SmallIntegerField(null=True, blank=True)
    penalty = models.FloatField(null=True, blank=True)
    ratings = models.JSONField(default=dict, blank=True)
    choices = models.JSONField(default=dict, blank=True)
    post_edit = models.TextField(null=True, blank=True)  # noqa: DJ001 - an empty text is an answer
    hter = models.FloatField(null=True, blank=True)
    comment = models.TextField(blank=True)
    is_flagged = models.BooleanField(default=False)
    submit_key = models.UUIDField(unique=True)
    started_at = models.DateTimeField(null=True, blank=True)
    submitted_at = models.DateTimeField(null=True, blank=True)
    visible_ms = models.PositiveIntegerField(null=True, blank=True)
    active_ms = models.PositiveIntegerField(null=True, blank=True)
    paid_ms = models.PositiveIntegerField(null=True, blank=True)
    time_doubt = models.CharField(
        max_length=10, choices=TimeDoubt.choices, blank=True, default=TimeDoubt.NONE
    )
    sent_together = models.PositiveSmallIntegerField(default=1)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["assignment", "revision"]
        constraints = [
            models.CheckConstraint(
                condition=Q(score__isnull=True) | Q(score__gte=-MOST_VALUE, score__lte=MOST_VALUE),
                name="judgment_score_range",
            ),
            models.CheckConstraint(
                condition=Q(score__isnull=False, penalty__isnull=True)
                | Q(score__isnull=True, penalty__gte=0),
                name="judgment_score_or_penalty",
            ),
            models.CheckConstraint(
                condition=Q(started_at__isnull=True) | Q(submitted_at__gte=F("started_at")),
                name="judgment_time_order",
            ),
            models.UniqueConstraint(
                fields=["assignment", "revision"], name="judgment_revision_once"
            ),
            models.UniqueConstraint(
                fields=["assignment"],
                condition=Q(is_current=True),
                name="judgment_current_once",
            ),
        ]
        indexes = [models.Index(fields=["assignment", "paid_ms"], name="judgment_paid")]

    def __str__(self) -> str:
        return f"{self.assignment_id} r{self.revision}: {self.value}"

    @property
    def value(self) -> float:
        """What analyses use: higher is better."""
        return float(self.score) if self.score is not None else -float(self.penalty or 0)


class ErrorSpan(models.Model):
    """An error marked in a text: [start, end) in Unicode code points, of the source or output."""

    judgment = models.ForeignKey(Judgment, models.CASCADE, related_name="spans")
    side = models.CharField(max_length=6)
    start = models.PositiveIntegerField()
    end = models.PositiveIntegerField()
    severity = models.CharField(max_length=20)
    category = models.CharField(max_length=80, blank=True)

    class Meta:
        ordering = ["judgment", "side", "start", "end", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(side__in=("source", "target")), name="error_span_side"
            ),
            models.CheckConstraint(condition=Q(end__gt=F("start")), name="error_span_order"),
        ]

    def __str__(self) -> str:
        return f"{self.side} [{self.start}, {self.end}) {self.severity}"


class Playback(models.Model):
    """How the recording beside a segment was played before a judgment.

    `events` are [milliseconds since the screen came, `play`, `pause` or `seek`, second of the
    recording], in their order, as the browser reports them.
    """

    judgment = models.OneToOneField(Judgment, models.CASCADE, related_name="playback")
    events = models.JSONField()

    def __str__(self) -> str:
        return f"{self.judgment_id}: {len(self.events)}"


class PublishedPart(models.Model):
    """A human score of a system on one document or domain, published with a data set.

    `level` and `name` are those of `metaeval.files.evalset`: `document` or `domain`. `value` is as
    it was published, as in :class:`PublishedScore`.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="published_parts")
    system = models.ForeignKey(System, models.PROTECT, related_name="+")
    level = models.CharField(max_length=8)
    name = models.CharField(max_length=200)
    value = models.FloatField()

    class Meta:
        ordering = ["campaign", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "system", "level", "name"], name="published_part_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.level} {self.name}"


class PublishedScore(models.Model):
    """A human score published with a data set: of one output, or of one whole system.

    `value` is as it was published; analyses multiply it by the campaign's `published_sign`.
    """

    campaign = models.ForeignKey(Campaign, models.CASCADE, related_name="published_scores")
    output = models.ForeignKey(Output, models.PROTECT, null=True, blank=True, related_name="+")
    system = models.ForeignKey(System, models.PROTECT, null=True, blank=True, related_name="+")
    value = models.FloatField()

    class Meta:
        ordering = ["campaign", "id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(output__isnull=False, system__isnull=True)
                | Q(output__isnull=True, system__isnull=False),
                name="published_score_one_level",
            ),
            models.UniqueConstraint(fields=["campaign", "output"], name="published_output_once"),
            models.UniqueConstraint(fields=["campaign", "system"], name="published_system_once"),
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id}: {self.value}"
