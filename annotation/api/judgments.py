"""Judgments for programs, with their history. Annotators do not use this API."""

from collections.abc import Mapping
from typing import ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets

from annotation.access import is_site_admin, visible_campaigns
from annotation.api.pages import CursorPagination
from annotation.api.parameters import LEAVING_OUT, TakesParameters, Texts
from annotation.filters import FilterError, Filters
from annotation.filters.choice import quoted
from annotation.filters.chosen import filtered
from annotation.models import ErrorSpan, Judgment
from metaeval.messages import message


class SpanSerializer(serializers.ModelSerializer[ErrorSpan]):
    class Meta:
        model = ErrorSpan
        fields = ("side", "start", "end", "severity", "category")


class JudgmentSerializer(serializers.ModelSerializer[Judgment]):
    campaign = serializers.CharField(source="assignment.annotator.campaign.slug")
    annotator = serializers.CharField(source="assignment.annotator.label")
    kind = serializers.CharField(source="assignment.item.kind")
    segment = serializers.CharField(source="assignment.item.segment.key")
    document = serializers.CharField(source="assignment.item.segment.document")
    system = serializers.SerializerMethodField()
    batch = serializers.CharField(source="assignment.item.batch")
    screen = serializers.IntegerField(source="assignment.item.screen", allow_null=True)
    column = serializers.SerializerMethodField()
    n_columns = serializers.IntegerField(source="assignment.item.n_columns")
    inclusion = serializers.FloatField(
        source="assignment.inclusion",
        allow_null=True,
        help_text="The probability with which the system was drawn for the screen; null if "
        "nothing was drawn.",
    )
    segment_inclusion = serializers.SerializerMethodField(
        help_text="The probability with which the segment was drawn; null if the campaign covers "
        "its whole test set, or for control items of other segments.",
    )
    condition = serializers.CharField(
        source="assignment.condition",
        help_text="The kind of suggested errors that were shown; empty without suggestions.",
    )
    ratings = serializers.DictField(
        child=serializers.IntegerField(),
        help_text="By the names of a campaign's own scales; `score` is the first of them.",
    )
    choices = serializers.DictField(child=serializers.CharField())
    is_excluded = serializers.SerializerMethodField()
    spans = SpanSerializer(many=True, read_only=True)

    class Meta:
        model = Judgment
        fields = (
            "campaign",
            "annotator",
            "kind",
            "segment",
            "document",
            "system",
            "batch",
            "screen",
            "column",
            "n_columns",
            "inclusion",
            "segment_inclusion",
            "condition",
            "score",
            "ratings",
            "choices",
            "penalty",
            "spans",
            "post_edit",
            "hter",
            "comment",
            "is_flagged",
            "revision",
            "is_current",
            "is_excluded",
            "started_at",
            "submitted_at",
            "visible_ms",
            "active_ms",
            "paid_ms",
            "time_doubt",
            "sent_together",
        )

    def get_system(self, judgment: Judgment) -> str | None:
        """Return the system of an output or of a whole document."""
        item = judgment.assignment.item
        system = item.output.system if item.output is not None else item.system
        return system.name if system is not None else None

    def get_segment_inclusion(self, judgment: Judgment) -> float | None:
        """Return the inclusion probability of the segment in the campaign's sample."""
        campaign = judgment.assignment.annotator.campaign_id
        samples = judgment.assignment.item.segment.samples.all()
        return next((each.inclusion for each in samples if each.campaign_id == campaign), None)

    def get_column(self, judgment: Judgment) -> int:
        """Return the position among the systems next to each other on a screen, from 1."""
        drawn = judgment.assignment.column
        return (judgment.assignment.item.column if drawn is None else drawn) + 1

    def get_is_excluded(self, judgment: Judgment) -> bool:
        """Return whether the annotator is excluded from analyses."""
        return judgment.assignment.annotator.excluded_at is not None


@extend_schema(tags=["judgments"])
class JudgmentViewSet(TakesParameters, mixins.ListModelMixin, viewsets.GenericViewSet[Judgment]):
    """Every judgment with its history, oldest first; `?campaign=slug` for one campaign.

    Filters exclude judgments of that campaign; without a campaign they are refused.
    """

    takes: ClassVar[Mapping[str, Texts]] = {
        "list": {"campaign": "The short name of a campaign."} | dict(LEAVING_OUT)
    }
    serializer_class = JudgmentSerializer
    pagination_class = CursorPagination
    queryset = (
        Judgment.objects.select_related(
            "assignment__annotator__campaign",
            "assignment__item__segment",
            "assignment__item__output__system",
            "assignment__item__system",
        )
        .prefetch_related("spans", "assignment__item__segment__samples")
        .order_by("pk")
    )

    def get_queryset(self) -> QuerySet[Judgment]:
        """Filter by campaign; exclude campaigns that the user may not read."""
        visible, rows = visible_campaigns(self.request.user), super().get_queryset()
        query = self.request.query_params
        filters, slug = Filters.from_query(query), query.get("campaign")
        if not slug and filters.words:
            raise FilterError(
                message(
                    "judgments.filters-need-campaign",
                    "Filters need a campaign: {filters}.",
                    filters=list(filters.words),
                )
            )
        if not slug and is_site_admin(self.request.user):
            return rows
        if not slug:
            return rows.filter(assignment__annotator__campaign__in=visible)
        campaign = visible.filter(slug=slug).first()
        if campaign is None:
            raise FilterError(
                message(
                    "judgments.no-campaign",
                    "There is no campaign “{slug}” that you can read.",
                    slug=quoted(slug),
                )
            )
        return filtered(rows.filter(assignment__annotator__campaign=campaign), campaign, filters)
