"""Test sets for programs: researchers read, campaign admins upload, owners mark human systems."""

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied
from django.core.exceptions import ValidationError as Refusal
from django.db.models import QuerySet
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import may_share_test_set, readable, visible_projects
from annotation.api.imports import (
    BEGUN,
    MAX_PROBLEMS,
    FlagsSerializer,
    ProblemSerializer,
    begun,
    problems_of_forms,
    refusal,
    unless_too_large,
)
from annotation.api.pages import ListedRows
from annotation.api.parameters import TakesParameters
from annotation.api.requests import TextsField, request_of
from annotation.forms.uploads import UploadForm, submission_of
from annotation.imports import background
from annotation.models import Output, Project, Segment, System, TestSet
from annotation.test_sets import NOT_YOURS, set_human, sizes
from annotation.uploads import Checked, OutdatedError, check_pairs, store_all
from annotation.uploads.problems import Problem
from core.messages import invalid_field, messages_of
from core.text import pluralize
from metaeval.messages import message

CHANGED = message(
    "upload.changed", "The stored test set changed while the files were checked. Send them again."
)


class SystemSerializer(ListedRows, serializers.ModelSerializer[System]):
    class Meta:
        model = System
        fields = ("name", "length_ratio", "is_human", "reference")


class HumanSerializer(serializers.Serializer[Any]):
    """A system of the test set, and whether people wrote its outputs."""

    name = serializers.CharField(max_length=120)
    length_ratio = serializers.DecimalField(max_digits=4, decimal_places=2, default=Decimal(1))
    is_human = serializers.BooleanField()


@extend_schema_field(OpenApiTypes.STR)
class ProjectSlug(serializers.Field[Project, Any, Any, Any]):
    """The short name of a project; null without one, and for those who are not in it."""

    def to_representation(self, value: Project) -> str | None:
        """Return the short name to members."""
        context: Any = self.context  # one for all rows of an answer
        if "projects" not in context:
            rows = visible_projects(context["request"].user) if "request" in context else ()
            context["projects"] = {each.pk for each in rows}
        return value.slug if value.pk in context["projects"] else None


class TestSetSerializer(ListedRows, serializers.ModelSerializer[TestSet]):
    systems = SystemSerializer(many=True, read_only=True)
    n_segments = serializers.IntegerField(read_only=True)
    project = ProjectSlug(read_only=True, allow_null=True)

    class Meta:
        model = TestSet
        fields = (
            "slug",
            "name",
            "source_language",
            "target_language",
            "description",
            "project",
            "is_private",
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
        fields = ("key", "position", "document", "domain", "source", "references", "outputs")

    def get_references(self, segment: Segment) -> dict[str, str]:
        """Name -> text."""
        return {reference.name: reference.text for reference in segment.references.all()}


UploadRequest = request_of(
    UploadForm,
    "UploadRequest",
    columns=serializers.CharField(required=False, help_text='{"": {"seg_id": "segment"}}'),
    decode=serializers.BooleanField(default=False, help_text="HTML entities become characters"),
)


class UploadFlagsSerializer(FlagsSerializer):
    """Options of an upload that the form of the page does not have."""

    decode = serializers.BooleanField(required=False, default=False)
    columns = TextsField(by_file=True)


class UploadedSerializer(serializers.Serializer[object]):
    """A test set of an upload: what is added, and what was stored before."""

    slug = serializers.CharField()
    name = serializers.CharField()
    source_language = serializers.CharField()
    target_language = serializers.CharField()
    is_new = serializers.BooleanField()
    n_segments = serializers.IntegerField()
    segments_added = serializers.IntegerField()
    references_added = serializers.IntegerField()
    systems_added = serializers.ListField(child=serializers.CharField())
    systems_unchanged = serializers.ListField(child=serializers.CharField())
    outputs_added = serializers.IntegerField()
    preview = serializers.DictField(help_text="counts, systems with their lengths, first segments")


class UploadSerializer(serializers.Serializer[object]):
    """What an upload did or, in a dry run, would do; `columns` maps each to its field, by file."""

    stored = serializers.BooleanField()
    test_sets = UploadedSerializer(many=True)
    columns = serializers.DictField(child=serializers.DictField(child=serializers.CharField()))
    problems = ProblemSerializer(many=True)


@extend_schema(tags=["test sets"])
class TestSetViewSet(TakesParameters, viewsets.ReadOnlyModelViewSet[TestSet]):
    """Test sets with their systems; `segments` pages through texts and outputs."""

    __test__: ClassVar[bool] = False
    paged = ("list", "segments")
    serializer_class = TestSetSerializer
    lookup_field = "slug"
    queryset = (
        TestSet.objects.annotate(n_segments=sizes()["n_segments"])
        .select_related("project")
        .prefetch_related("systems")
        .order_by("slug")
    )

    def get_queryset(self) -> QuerySet[TestSet]:
        """Exclude test sets whose systems the user must not know as a reviewer."""
        return readable(super().get_queryset(), self.request.user, "pk")

    @extend_schema(
        request={"multipart/form-data": UploadRequest},
        responses={
            200: OpenApiResponse(UploadSerializer, "A dry run, or all was stored already."),
            201: UploadSerializer,
            202: BEGUN,
            413: OpenApiResponse(None, "The body is too large."),
        },
    )
    def create(self, request: Request, format: str | None = None) -> Response:
        """Store a test set, or add to one of the same name: all or nothing; `dry_run` checks."""
        if (refused := unless_too_large(request)) is not None:
            return refused
        flags, form = (
            UploadFlagsSerializer(data=request.POST),
            UploadForm(request.POST, request.FILES),
        )
        flags.is_valid()
        if wrong := problems_of_forms(form.errors.as_data(), flags.errors):
            return refusal("The request cannot be read.", wrong)
        chosen = flags.validated_data
        choices = {name: chosen[name] for name in ("columns", "decode", "skip") if name in chosen}
        sent = form.sent()
        sent = replace(sent, words={**sent.words, **choices})
        if background.is_large(sent.files.values()):
            return begun(request, sent, {"store": not chosen["dry_run"]})
        found = check_pairs(submission_of(form.cleaned_data, sent, request.user), user=request.user)
        report = found[0].report
        if report.errors:
            n = pluralize(len(report.errors), "error")
            return refusal(f"{n}; nothing was stored.", report.problems)
        if chosen["dry_run"]:
            return Response(_described(found, is_stored=False))
        return _store(request, found)

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
            refused = message(
                "api.no-system", "This test set has no system “{name}”.", name=named["name"]
            )
            raise invalid_field("name", refused)
        actor: Any = request.user
        set_human(system=system, is_human=sent.validated_data["is_human"], actor=actor)
        system.refresh_from_db()
        return Response(SystemSerializer(system).data)


def _store(request: Request, found: Sequence[Checked]) -> Response:
    try:
        store_all(found, request.user)
    except Refusal as error:
        problems = [Problem("error", text) for text in messages_of(error)]
        return refusal("Nothing was stored.", problems)
    except OutdatedError:
        return refusal(CHANGED.text, [Problem("error", CHANGED)], status.HTTP_409_CONFLICT)
    is_new = any(not each.changes.is_empty for each in found)
    code = status.HTTP_201_CREATED if is_new else status.HTTP_200_OK
    return Response(_described(found, is_stored=True), status=code)


def _described(found: Sequence[Checked], *, is_stored: bool) -> Any:
    first = found[0]
    return UploadSerializer(
        {
            "stored": is_stored,
            "test_sets": [_summary(each) for each in found],
            "columns": {
                each.file: {each.titles.get(c, c): f for c, f in each.fields.items()}
                for each in first.meanings
            },
            "problems": first.report.problems[:MAX_PROBLEMS],
        }
    ).data


def _summary(checked: Checked) -> dict[str, Any]:
    draft, changes = checked.draft, checked.changes
    named = ("segments_added", "references_added", "systems_added", "systems_unchanged",
             "outputs_added")  # fmt: skip
    return {
        "slug": draft.slug,
        "name": draft.name,
        "source_language": draft.source_language,
        "target_language": draft.target_language,
        "is_new": changes.creates,
        "n_segments": checked.preview.segments,
        **{name: getattr(changes, name) for name in named},
        "preview": checked.preview.as_json(),
    }
