"""The API of parallel corpora and jobs, for researchers: list, start, show, cancel."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import joined_project, of_readable_projects
from annotation.api.parameters import TakesParameters, Texts
from annotation.filters import FilterError
from annotation.filters.choice import quoted
from annotation.models import ApiToken, Project
from core.messages import as_json, refusal_as_json
from metaeval.messages import Message, message
from metrics.api.runs import MayRun
from training.forms import CorpusForm
from training.jobs import starting
from training.jobs.presenting import described
from training.models import ParallelCorpus, TrainingJob
from training.parallel import corpora
from training.parallel.reading import clean

Row = TypeVar("Row", bound=Model)
ENDED = message("work.already-ended", "This has already ended.")


class CorpusSerializer(serializers.ModelSerializer[ParallelCorpus]):
    class Meta:
        model = ParallelCorpus
        fields = (
            "name",
            "source_language",
            "target_language",
            "n_pairs",
            "sha256",
            "report",
            "created_at",
        )


class CleaningSerializer(serializers.Serializer[object]):
    """How many pairs were read and stored, and why the others were excluded."""

    report = serializers.DictField()


class CorpusUploadSerializer(serializers.Serializer[object]):
    """Parallel text in one file, or in two files with one side each."""

    name = serializers.SlugField(max_length=60, write_only=True)
    source_language = serializers.CharField(max_length=20, write_only=True)
    target_language = serializers.CharField(max_length=20, write_only=True)
    file = serializers.FileField(write_only=True)
    target_file = serializers.FileField(required=False, write_only=True)
    dry_run = serializers.BooleanField(required=False, default=False, write_only=True)


@extend_schema(tags=["training"])
class CorpusViewSet(
    TakesParameters,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    viewsets.GenericViewSet[ParallelCorpus],
):
    """Parallel corpora, and what cleaning excluded."""

    scope: ClassVar[str] = ApiToken.Scope.SCORE
    permission_classes = (MayRun,)
    serializer_class = CorpusSerializer
    queryset = ParallelCorpus.objects.order_by("name")
    lookup_field = "name"
    parser_classes = (MultiPartParser,)

    @extend_schema(
        request={"multipart/form-data": CorpusUploadSerializer},
        responses={200: CleaningSerializer, 201: CorpusSerializer},
    )
    def create(self, request: Request, format: str | None = None) -> Response:
        """Clean and store parallel text; with `dry_run` only report what cleaning excludes."""
        sent = CorpusUploadSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        form = CorpusForm(request.POST, request.FILES)
        if not form.is_valid():
            errors = {name: list(map(str, found)) for name, found in form.errors.items()}
            raise serializers.ValidationError(errors)
        if sent.validated_data["dry_run"]:
            return Response({"report": clean(form.rows)[1].as_json()})
        described = ("name", "source_language", "target_language")
        try:
            corpus = corpora.add(
                **{key: form.cleaned_data[key] for key in described},
                rows=form.rows,
                user=request.user,
            )
        except ValidationError as error:
            raise serializers.ValidationError(serializers.as_serializer_error(error)) from error
        return Response(CorpusSerializer(corpus).data, status=status.HTTP_201_CREATED)


@extend_schema_field({"type": ["object", "string", "null"]})
class MessageSerializer(serializers.Field[Message | str, Any, Any, Any]):
    """A message; null where there is none."""

    def to_representation(self, value: Message | str) -> Any:
        """Return a message as JSON."""
        return as_json(value) if isinstance(value, Message) else value or None


class JobSerializer(serializers.ModelSerializer[TrainingJob]):
    message = MessageSerializer(read_only=True)
    corpora: serializers.SlugRelatedField[ParallelCorpus] = serializers.SlugRelatedField(
        slug_field="name", many=True, read_only=True
    )
    metric = serializers.CharField(source="metric.name", default=None, allow_null=True)
    findings = serializers.SerializerMethodField()
    project: serializers.SlugRelatedField[Project] = serializers.SlugRelatedField(
        slug_field="slug", read_only=True, allow_null=True
    )

    def get_findings(self, job: TrainingJob) -> dict[str, Any]:
        """Return warnings, the verdict in sentences, whether to use it, and values with names."""
        return described(job)

    class Meta:
        model = TrainingJob
        fields = (
            "id",
            "kind",
            "name",
            "project",
            "sweep",
            "corpora",
            "options",
            "status",
            "queue",
            "progress",
            "result",
            "findings",
            "message",
            "metric",
            "worker",
            "created_at",
            "started_at",
            "finished_at",
        )


class JobStartSerializer(serializers.Serializer[object]):
    """A job to start; `manage.py train KIND` lists its `options`."""

    kind = serializers.CharField()
    name = serializers.CharField()
    corpora = serializers.SlugRelatedField(
        slug_field="name", many=True, required=False, queryset=ParallelCorpus.objects.all()
    )
    options = serializers.DictField(required=False, default=dict)
    project = serializers.SlugField(required=False, default="", allow_blank=True)


class WorkViewSet(
    TakesParameters,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    viewsets.GenericViewSet[Row],
    ABC,
    Generic[Row],
):
    """Background jobs that can be cancelled and resumed."""

    scope: ClassVar[str] = ApiToken.Scope.SCORE
    permission_classes = (MayRun,)
    lookup_value_regex = "[0-9]{1,18}"

    @abstractmethod
    def end(self, row: Row) -> bool:
        """Cancel it; return False if it has already ended."""

    @abstractmethod
    def continue_row(self, row: Row) -> None:
        """Resume it; raises ValidationError if it cannot be resumed."""

    @extend_schema(request=None, responses={409: None})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str, format: str | None = None) -> Response:
        """Cancel it; answer 409 if it had already ended."""
        row = self.get_object()
        if not self.end(row):
            ended = ValidationError([ENDED])
            return Response(refusal_as_json(ended), status=status.HTTP_409_CONFLICT)
        row.refresh_from_db()
        return Response(self.get_serializer(row).data)

    @extend_schema(request=None, responses={409: None})
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str, format: str | None = None) -> Response:
        """Resume what failed, was cancelled or lost its worker; 409 for anything else."""
        row = self.get_object()
        try:
            self.continue_row(row)
        except ValidationError as error:
            return Response(refusal_as_json(error), status=status.HTTP_409_CONFLICT)
        row.refresh_from_db()
        return Response(self.get_serializer(row).data)


@extend_schema(tags=["training"])
class JobViewSet(WorkViewSet[TrainingJob]):
    """Jobs, newest first; `?sweep=name` selects those of one sweep."""

    takes: ClassVar[Mapping[str, Texts]] = {"list": {"sweep": "The name of a sweep."}}
    serializer_class = JobSerializer
    queryset = TrainingJob.objects.select_related("metric", "project").prefetch_related("corpora")

    def end(self, row: TrainingJob) -> bool:
        """Cancel a job."""
        return starting.cancel(row)

    def continue_row(self, row: TrainingJob) -> None:
        """Resume a job."""
        starting.resume(row)

    def get_queryset(self) -> QuerySet[TrainingJob]:
        """Filter by sweep."""
        sweep = self.request.query_params.get("sweep")
        rows = of_readable_projects(super().get_queryset(), self.request.user)
        if not sweep:
            return rows
        if not rows.filter(sweep=sweep).exists():
            raise FilterError(
                message("jobs.no-sweep", "There is no sweep “{sweep}”.", sweep=quoted(sweep))
            )
        return rows.filter(sweep=sweep)

    @extend_schema(request=JobStartSerializer, responses={201: JobSerializer})
    def create(self, request: Request, format: str | None = None) -> Response:
        """Start a job."""
        form = JobStartSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted: dict[str, Any] = dict(form.validated_data)
        try:
            wanted["project"] = joined_project(request.user, wanted["project"])
            job = starting.start(given=wanted.pop("options"), user=request.user, **wanted)
        except ValidationError as error:
            raise serializers.ValidationError(serializers.as_serializer_error(error)) from error
        return Response(self.get_serializer(job).data, status=status.HTTP_201_CREATED)
