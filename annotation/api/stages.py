"""Test sets, campaigns and judgments for programs. Researchers read; owners mark human systems.

Annotators do not use this API: only the item page shows them what they rate.
"""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import NOT_YOURS as NOT_YOUR_CAMPAIGN
from annotation.access import (
    may_share_test_set,
    not_blinded,
    runs_campaign,
    visible_campaigns,
)
from annotation.api.parameters import LEAVING_OUT, TakesParameters, Texts
from annotation.campaign_files import to_values
from annotation.filters import FilterError, Filters
from annotation.filters.choice import quoted
from annotation.filters.rows import filtered
from annotation.models import Campaign, ErrorSpan, Judgment, Output, Segment, System, TestSet
from annotation.test_sets import NOT_YOURS, set_human
from annotation.web.parameters import SECRET, wants_secret
from metaeval.messages import message


class SystemSerializer(serializers.ModelSerializer[System]):
    class Meta:
        model = System
        fields = ("name", "length_ratio", "is_human", "reference")


class HumanSerializer(serializers.Serializer[Any]):
    """A system of the test set, and whether people wrote its outputs."""

    name = serializers.CharField(max_length=120)
    length_ratio = serializers.DecimalField(max_digits=4, decimal_places=2, default=Decimal(1))
    is_human = serializers.BooleanField()


class TestSetSerializer(serializers.ModelSerializer[TestSet]):
    systems = SystemSerializer(many=True, read_only=True)
    n_segments = serializers.IntegerField(read_only=True)

    class Meta:
        model = TestSet
        fields = (
            "slug",
            "name",
            "source_language",
            "target_language",
            "description",
            "n_segments",
            "systems",
            "created_at",
        )


class OutputSerializer(serializers.ModelSerializer[Output]):
    system = serializers.CharField(source="system.name")
    length_ratio = serializers.DecimalField(
        source="system.length_ratio", max_digits=4, decimal_places=2
    )

    class Meta:
        model = Output
        fields = ("system", "length_ratio", "text")


class SegmentSerializer(serializers.ModelSerializer[Segment]):
    references = serializers.SerializerMethodField()
    outputs = OutputSerializer(many=True, read_only=True)

    class Meta:
        model = Segment
        fields = ("key", "position", "document", "source", "references", "outputs")

    def get_references(self, segment: Segment) -> dict[str, str]:
        """Name -> text."""
        return {reference.name: reference.text for reference in segment.references.all()}


class CampaignSerializer(serializers.ModelSerializer[Campaign]):
    test_set: serializers.SlugRelatedField[TestSet] = serializers.SlugRelatedField(
        slug_field="slug", read_only=True
    )
    systems = SystemSerializer(many=True, read_only=True)
    n_assigned = serializers.IntegerField(read_only=True)
    n_completed = serializers.IntegerField(read_only=True)
    answers = serializers.DictField(
        allow_null=True,
        help_text="The campaign's own scales, errors, text and choices, as in a campaign file; "
        "null if it uses those of the protocol.",
    )

    class Meta:
        model = Campaign
        fields = (
            "slug",
            "name",
            "study",
            "test_set",
            "systems",
            "length_ratio",
            "shown_text",
            "question",
            "protocol",
            "answers",
            "systems_per_screen",
            "assignment_mode",
            "annotators_per_item",
            "speed_rule",
            "traps_per_annotator",
            "trap_ratio",
            "z_pool",
            "seed",
            "status",
            "origin",
            "opened_at",
            "closed_at",
            "n_assigned",
            "n_completed",
        )


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

    def get_column(self, judgment: Judgment) -> int:
        """Return the position among the systems next to each other on a screen, from 1."""
        drawn = judgment.assignment.column
        return (judgment.assignment.item.column if drawn is None else drawn) + 1

    def get_is_excluded(self, judgment: Judgment) -> bool:
        """Return whether the annotator is excluded from analyses."""
        return judgment.assignment.annotator.excluded_at is not None


@extend_schema(tags=["test sets"])
class TestSetViewSet(TakesParameters, viewsets.ReadOnlyModelViewSet[TestSet]):
    """Test sets with their systems; `segments` pages through texts and outputs."""

    __test__: ClassVar[bool] = False
    paged = ("list", "segments")
    serializer_class = TestSetSerializer
    lookup_field = "slug"
    queryset = (
        TestSet.objects.annotate(n_segments=Count("segments"))
        .prefetch_related("systems")
        .order_by("slug")
    )

    def get_queryset(self) -> QuerySet[TestSet]:
        """Exclude test sets whose systems the user must not know as a reviewer."""
        return not_blinded(super().get_queryset(), self.request.user, "pk")

    @extend_schema(responses=SegmentSerializer(many=True))
    @action(detail=True)
    def segments(self, request: Request, slug: str, format: str | None = None) -> Response:
        """List segments in order, each with references and all outputs."""
        rows = Segment.objects.filter(test_set=self.get_object()).order_by("position")
        page: Any = self.paginate_queryset(
            rows.prefetch_related("references", "outputs__system")  # type: ignore[arg-type]
        )
        return self.get_paginated_response(SegmentSerializer(page, many=True).data)

    @extend_schema(request=HumanSerializer, responses=SystemSerializer)
    @action(detail=True, methods=["post"], url_path="human-systems")
    def human_systems(self, request: Request, slug: str, format: str | None = None) -> Response:
        """Mark a system as a human translation or as MT; only the owner and site admins may."""
        test_set = self.get_object()
        if not may_share_test_set(request.user, test_set):
            raise PermissionDenied(NOT_YOURS)
        sent = HumanSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        named = {name: sent.validated_data[name] for name in ("name", "length_ratio")}
        system = test_set.systems.filter(**named).first()
        if system is None:
            raise ValidationError({"name": [f"This test set has no system {named['name']!r}."]})
        actor: Any = request.user
        set_human(system=system, is_human=sent.validated_data["is_human"], actor=actor)
        system.refresh_from_db()
        return Response(SystemSerializer(system).data)


@extend_schema(tags=["campaigns"])
class CampaignViewSet(TakesParameters, viewsets.ReadOnlyModelViewSet[Campaign]):
    """Campaigns that the user may read, with their settings and progress."""

    takes: ClassVar[Mapping[str, Texts]] = {
        "file": {
            SECRET: "`included` adds the secret of hidden draws, for those who run the campaign. "
            "With it the file gives the same items in the same orders; do not show it to "
            "annotators."
        }
    }
    serializer_class = CampaignSerializer
    lookup_field = "slug"
    queryset = (
        Campaign.objects.annotate(
            n_assigned=Count("annotators__assignments"),
            n_completed=Count("annotators__assignments__completed_at"),
        )
        .select_related("test_set")
        .prefetch_related("systems")
        .order_by("slug")
    )

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True)
    def file(self, request: Request, slug: str, format: str | None = None) -> Response:
        """Download the campaign as one file without judgments, from which it can be imported."""
        campaign, with_secret = self.get_object(), wants_secret(request.query_params)
        if with_secret and not runs_campaign(request.user, campaign):
            raise PermissionDenied(NOT_YOUR_CAMPAIGN)
        return Response(to_values(campaign, with_secret=with_secret))

    def get_queryset(self) -> QuerySet[Campaign]:
        """Exclude campaigns that the user may not read."""
        return super().get_queryset().filter(pk__in=visible_campaigns(self.request.user))


@extend_schema(tags=["judgments"])
class JudgmentViewSet(TakesParameters, mixins.ListModelMixin, viewsets.GenericViewSet[Judgment]):
    """Every judgment with its history, oldest first; `?campaign=slug` for one campaign.

    Filters exclude judgments of that campaign; without a campaign they are refused.
    """

    takes: ClassVar[Mapping[str, Texts]] = {
        "list": {"campaign": "The short name of a campaign."} | dict(LEAVING_OUT)
    }
    serializer_class = JudgmentSerializer
    queryset = (
        Judgment.objects.select_related(
            "assignment__annotator__campaign",
            "assignment__item__segment",
            "assignment__item__output__system",
            "assignment__item__system",
        )
        .prefetch_related("spans")
        .order_by("pk")
    )

    def get_queryset(self) -> QuerySet[Judgment]:
        """Filter by campaign; exclude campaigns that the user may not read."""
        visible = visible_campaigns(self.request.user)
        rows = super().get_queryset().filter(assignment__annotator__campaign__in=visible)
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
        if not slug:
            return rows
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
