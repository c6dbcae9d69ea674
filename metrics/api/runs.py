"""Metric runs for programs: list, start, watch, cancel. Researchers may do all of it."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import is_researcher, not_blinded, test_set_for_reader
from annotation.api.parameters import TakesParameters, Texts
from annotation.filters import FilterError
from annotation.models import System, TestSet
from metrics import catalogue
from metrics.contents import failed_texts
from metrics.models import FailedText, JudgeSpending, MetricRun, RunWorker
from metrics.runs import starting as runs
from metrics.runs import waiting
from metrics.runs.state import HeldError
from metrics.runs.waiting import Hosts, Turn
from metrics.scores import truncation_of
from metrics.support import Budget
from metrics.truncation import Counts


class MayRun(BasePermission):
    """Researchers start and cancel runs as well as reading them."""

    def has_permission(self, request: Request, view: object) -> bool:
        """Check the role."""
        return is_researcher(request.user)


class WorkerLogSerializer(serializers.ModelSerializer[RunWorker]):
    """What one worker did: bytes are peaks, `seconds` those it was busy."""

    rate = serializers.FloatField(source="average_rate", allow_null=True)
    state = serializers.CharField()

    class Meta:
        model = RunWorker
        fields = (
            "name",
            "host",
            "device",
            "precision",
            "batch",
            "segments",
            "seconds",
            "rate",
            "peak_bytes",
            "device_peak_bytes",
            "builds",
            "joined_at",
            "seen_at",
            "state",
        )


class HostsSerializer(serializers.Serializer[Hosts]):
    """Hosts whose workers take from a metric's queue: `able` ones, and what each other lacks."""

    able = serializers.ListField(child=serializers.CharField())
    lacking = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))
    is_stuck = serializers.BooleanField()


class TurnSerializer(serializers.Serializer[Turn]):
    """The place in the queue, and seconds: until it begins, that it takes, until it ends. Null
    where they cannot be known."""

    place = serializers.IntegerField()
    begins_in = serializers.FloatField(allow_null=True)
    takes = serializers.FloatField(allow_null=True)
    ends_in = serializers.FloatField(allow_null=True)
    hosts = HostsSerializer()


class FailedTextSerializer(serializers.ModelSerializer[FailedText]):
    """A text that could not be scored."""

    segment = serializers.CharField(source="output.segment.key")
    system = serializers.CharField(source="output.system.name")
    output = serializers.CharField(source="output.text")

    class Meta:
        model = FailedText
        fields = ("segment", "system", "output", "error", "attempts")


class SpendingSerializer(serializers.ModelSerializer[JudgeSpending]):
    """What a judge's run may spend and has spent; `report` says what its verdicts look like."""

    tokens = serializers.IntegerField()
    money = serializers.FloatField()

    class Meta:
        model = JudgeSpending
        fields = (
            "endpoint",
            "model",
            "currency",
            "budget_money",
            "budget_tokens",
            "calls",
            "reread",
            "lost",
            "prompt_tokens",
            "completion_tokens",
            "tokens",
            "money",
            "report",
        )


class RunSerializer(serializers.ModelSerializer[MetricRun]):
    test_set: serializers.SlugRelatedField[TestSet] = serializers.SlugRelatedField(
        slug_field="slug", read_only=True
    )
    signature = serializers.CharField(source="signature.signature", default=None, allow_null=True)
    seconds_left = serializers.FloatField(allow_null=True)
    workers = WorkerLogSerializer(many=True)
    turn = serializers.SerializerMethodField()
    spending = SpendingSerializer(default=None, allow_null=True, read_only=True)

    class Meta:
        model = MetricRun
        fields = (
            "id",
            "test_set",
            "metric",
            "signature",
            "status",
            "total",
            "done",
            "reused",
            "failed",
            "rate",
            "seconds_left",
            "turn",
            "spending",
            "worker",
            "workers",
            "message",
            "created_at",
            "started_at",
            "finished_at",
        )

    @extend_schema_field(TurnSerializer(allow_null=True))
    def get_turn(self, run: MetricRun) -> Any:
        """What an active run waits for; null for one that has ended."""
        if not run.is_active:
            return None
        context: Any = self.context  # one for all runs of an answer
        if "turns" not in context:
            context["turns"] = waiting.turns()
        turn = context["turns"].get(run.pk)
        return TurnSerializer(turn).data if turn else None


class TruncationSerializer(serializers.Serializer[Counts]):
    """Of the `n_scored` outputs with a score, those of which the metric truncated the output, its
    source or its reference, and those of which that is not known."""

    n_scored = serializers.IntegerField()
    n_truncated = serializers.IntegerField()
    n_unknown = serializers.IntegerField()


class RunDetailSerializer(RunSerializer):
    """A run with what is counted over its outputs; null before the run has a signature."""

    truncation = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields = (*RunSerializer.Meta.fields, "truncation")  # type: ignore[assignment]

    @extend_schema_field(TruncationSerializer(allow_null=True))
    def get_truncation(self, run: MetricRun) -> Any:
        """Count over the outputs of the run."""
        counts = truncation_of(run)
        return TruncationSerializer(counts).data if counts else None


class StartSerializer(serializers.Serializer[object]):
    """What to score: `systems` are names, at every length unless `length_ratio` is given."""

    test_set = serializers.SlugRelatedField(
        slug_field="slug", queryset=TestSet.objects.all(), write_only=True
    )
    metrics = serializers.ListField(
        child=serializers.CharField(), allow_empty=False, write_only=True
    )
    systems = serializers.ListField(
        child=serializers.CharField(), required=False, allow_empty=False, write_only=True
    )
    length_ratio = serializers.DecimalField(
        max_digits=4, decimal_places=2, required=False, write_only=True
    )

    money = serializers.FloatField(
        required=False, write_only=True, help_text="Budget of each judge, in its currency."
    )
    tokens = serializers.IntegerField(
        required=False, write_only=True, min_value=1, help_text="Budget of each judge, in tokens."
    )

    def validate_money(self, value: float) -> float:
        """Refuse what is no amount."""
        if not 0 < value < math.inf:
            raise serializers.ValidationError("A budget must be more than nothing.")
        return value

    def validate_metrics(self, names: list[str]) -> list[str]:
        """Refuse names that no metric has."""
        unknown = sorted(set(names) - set(catalogue.infos()))
        if unknown:
            raise serializers.ValidationError([catalogue.refusal(name) for name in unknown])
        return names

    def validate(self, data: dict[str, Any]) -> dict[str, Any]:
        """Find the systems; name those that the test set lacks."""
        rows = System.objects.filter(test_set=data["test_set"])
        if "length_ratio" in data:
            rows = rows.filter(length_ratio=data["length_ratio"])
        names = data.get("systems")
        if isinstance(names, list):
            rows = rows.filter(name__in=names)
            missing = sorted(set(names) - {row.name for row in rows})
            if missing:
                raise serializers.ValidationError(
                    {"systems": f"The test set has no system {', '.join(missing)}."}
                )
        if not rows:
            raise serializers.ValidationError({"systems": "The test set has no such system."})
        return data | {"systems": list(rows)}


class StartedSerializer(serializers.Serializer[runs.Started]):
    """New runs, identical ones that were under way already, and refusals in sentences."""

    runs = RunSerializer(many=True)
    active = RunSerializer(many=True)
    refused = serializers.ListField(child=serializers.CharField())


class OfTestSetViewSet(
    TakesParameters,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    viewsets.GenericViewSet[Any],
):
    """Rows that belong to a test set; `?test_set=slug` for those of one."""

    takes: ClassVar[Mapping[str, Texts]] = {"list": {"test_set": "The short name of a test set."}}
    permission_classes = (MayRun,)

    def get_queryset(self) -> QuerySet[Any]:
        """Filter by test set."""
        slug = self.request.query_params.get("test_set")
        rows = not_blinded(super().get_queryset(), self.request.user)
        if not slug:
            return rows
        if not TestSet.objects.filter(slug=slug).exists():
            raise FilterError(f"test_set: there is no test set {slug!r}")
        return rows.filter(test_set__slug=slug)


@extend_schema(tags=["metric runs"])
class RunViewSet(OfTestSetViewSet):
    """Runs, newest first; `?test_set=slug` for one test set."""

    serializer_class = RunSerializer
    queryset = (
        MetricRun.objects.select_related("test_set", "signature", "spending")
        .prefetch_related("workers__slices")
        .order_by("-pk")
    )

    def get_serializer_class(self) -> type[RunSerializer]:
        """One run has counts that a list has not."""
        return RunDetailSerializer if self.action == "retrieve" else RunSerializer

    @extend_schema(request=StartSerializer, responses=dict.fromkeys((200, 201), StartedSerializer))
    def create(self, request: Request, format: str | None = None) -> Response:
        """Start one run per metric."""
        form = StartSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data
        test_set_for_reader(request, given["test_set"].slug)
        started = runs.start(
            test_set=given["test_set"],
            metrics=given["metrics"],
            systems=given["systems"],
            user=request.user,
            budget=Budget(money=given.get("money"), tokens=given.get("tokens")),
        )
        code = status.HTTP_201_CREATED if started.runs else status.HTTP_200_OK
        return Response(StartedSerializer(started).data, status=code)

    @extend_schema(responses={200: FailedTextSerializer(many=True)})
    @action(detail=True, methods=["get"])
    def failed(self, request: Request, pk: str, format: str | None = None) -> Response:
        """List the texts that could not be scored, with their errors."""
        page = self.paginate_queryset(failed_texts(self.get_object()))
        return self.get_paginated_response(FailedTextSerializer(page, many=True).data)

    @extend_schema(request=None, responses={200: RunSerializer, 409: None, 503: None})
    @action(detail=True, methods=["post"])
    def cancel(self, request: Request, pk: str, format: str | None = None) -> Response:
        """Cancel a run; 409 if it had ended, 503 while a worker that fell silent holds it."""
        run = self.get_object()
        try:
            is_cancelled = runs.cancel(run)
        except HeldError as error:
            return Response({"error": str(error)}, status=status.HTTP_503_SERVICE_UNAVAILABLE)
        if not is_cancelled:
            return Response(
                {"error": "This run has ended already."}, status=status.HTTP_409_CONFLICT
            )
        run.refresh_from_db()
        return Response(RunSerializer(run).data)
