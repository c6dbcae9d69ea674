"""Parallel text and jobs for programs: list, start, watch, cancel. Researchers may do all of it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, TypeVar

from django.core.exceptions import ValidationError
from django.db.models import Model, QuerySet
from drf_spectacular.utils import extend_schema
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.parameters import TakesParameters, Texts
from annotation.filters import FilterError
from metrics.api.runs import MayRun
from training.forms import CorpusForm
from training.jobs import starting
from training.models import ParallelCorpus, TrainingJob
from training.parallel import corpora
from training.parallel.reading import clean

Row = TypeVar("Row", bound=Model)


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
    """How many pairs were read and kept, and why the others were left out."""

    report = serializers.DictField()


class CorpusUploadSerializer(serializers.Serializer[object]):
    """Parallel text in one file, or in two with a side each."""

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
    """Parallel text: what is stored, and what cleaning left out."""

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
        """Clean and store parallel text; with `dry_run` say what cleaning leaves out."""
        sent = CorpusUploadSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        form = CorpusForm(request.POST, request.FILES)
        if not form.is_valid():
            wrong = {name: [str(each) for each in said] for name, said in form.errors.items()}
            raise serializers.ValidationError(wrong)
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


class JobSerializer(serializers.ModelSerializer[TrainingJob]):
    corpora: serializers.SlugRelatedField[ParallelCorpus] = serializers.SlugRelatedField(
        slug_field="name", many=True, read_only=True
    )
    metric = serializers.CharField(source="metric.name", default=None, allow_null=True)

    class Meta:
        model = TrainingJob
        fields = (
            "id",
            "kind",
            "name",
            "sweep",
            "corpora",
            "options",
            "status",
            "progress",
            "result",
            "message",
            "metric",
            "worker",
            "created_at",
            "started_at",
            "finished_at",
        )


class JobStartSerializer(serializers.Serializer[object]):
    """A job to start; `options` as `manage.py train KIND` lists them."""

    kind = serializers.CharField()
    name = serializers.CharField()
    corpora = serializers.SlugRelatedField(
        slug_field="name", many=True, required=False, queryset=ParallelCorpus.objects.all()
    )
    options = serializers.DictField(required=False, default=dict)


class WorkViewSet(
    TakesParameters,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    viewsets.GenericViewSet[Row],
    ABC,
    Generic[Row],
):
    """Work that ends, may be cancelled before, and can go on afterwards."""

    permission_classes = (MayRun,)
    lookup_value_regex = "[0-9]{1,18}"

    @abstractmethod
    def end(self, row: Row) -> bool:
        """Cancel; False where it has ended."""

    @abstractmethod
    def go_on(self, row: Row) -> None:
        """Have it go on; ValidationError where it does not."""

    @extend_schema(request=None, responses={409: None})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str, format: str | None = None) -> Response:
        """Cancel; 409 where it had ended."""
        row = self.get_object()
        if not self.end(row):
            return Response({"error": "It has ended already."}, status=status.HTTP_409_CONFLICT)
        row.refresh_from_db()
        return Response(self.get_serializer(row).data)

    @extend_schema(request=None, responses={409: None})
    @action(detail=True, methods=["post"])
    def resume(self, request: Request, pk: str, format: str | None = None) -> Response:
        """Go on with what failed, was cancelled or lost its worker; 409 for anything else."""
        row = self.get_object()
        try:
            self.go_on(row)
        except ValidationError as error:
            return Response({"error": error.messages[0]}, status=status.HTTP_409_CONFLICT)
        row.refresh_from_db()
        return Response(self.get_serializer(row).data)


@extend_schema(tags=["training"])
class JobViewSet(WorkViewSet[TrainingJob]):
    """Jobs, newest first; `?sweep=name` for those of one sweep."""

    takes: ClassVar[Mapping[str, Texts]] = {"list": {"sweep": "The name of a sweep."}}
    serializer_class = JobSerializer
    queryset = TrainingJob.objects.select_related("metric").prefetch_related("corpora")

    def end(self, row: TrainingJob) -> bool:
        """Cancel a job."""
        return starting.cancel(row)

    def go_on(self, row: TrainingJob) -> None:
        """Go on with a job."""
        starting.resume(row)

    def get_queryset(self) -> QuerySet[TrainingJob]:
        """Filter by sweep."""
        sweep = self.request.query_params.get("sweep")
        rows = super().get_queryset()
        if not sweep:
            return rows
        if not TrainingJob.objects.filter(sweep=sweep).exists():
            raise FilterError(f"sweep: there is no sweep {sweep!r}")
        return rows.filter(sweep=sweep)

    @extend_schema(request=JobStartSerializer, responses={201: JobSerializer})
    def create(self, request: Request, format: str | None = None) -> Response:
        """Start a job."""
        form = JobStartSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted: dict[str, Any] = dict(form.validated_data)
        try:
            job = starting.start(given=wanted.pop("options"), user=request.user, **wanted)
        except ValidationError as error:
            raise serializers.ValidationError(serializers.as_serializer_error(error)) from error
        return Response(self.get_serializer(job).data, status=status.HTTP_201_CREATED)
