"""Metric runs in the API: list, start, watch, cancel. Researchers may do all of it."""

import math
from collections.abc import Mapping
from typing import Any, ClassVar

from django.db.models import QuerySet
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ErrorDetail
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import (
    is_researcher,
    readable,
    test_set_for_reader,
    visible_test_sets,
)
from annotation.api.parameters import TakesParameters, Texts
from annotation.filters import FilterError
from annotation.filters.choice import quoted
from annotation.models import ApiToken, System, TestSet
from core.messages import as_json, invalid_field
from metaeval.messages import Message, message, plural
from metrics import catalogue
from metrics.contents import failed_texts
from metrics.models import FailedText, JudgeSpending, MetricRun, RunWorker
from metrics.runs import starting as runs
from metrics.runs import waiting
from metrics.runs.state import RunLockedError
from metrics.runs.waiting import Hosts, Turn
from metrics.scores import truncation_of
from metrics.support import NO_BUDGET, Budget
from metrics.truncation import Counts


@extend_schema_field({"type": ["object", "string", "null"], "additionalProperties": True})
class MessageJSON(serializers.Field[Any, Any, Any, Any]):
    """A message as `code`, `text`, `pattern` and `parameters`.

    Text stored by earlier versions is returned as it is, null for none.
    """

    def to_representation(self, value: Any) -> Any:
        """Return the message as JSON."""
        return as_json(value) if isinstance(value, Message) else value or None


class MayRun(BasePermission):
    """Allow researchers to start and cancel runs."""

    def has_permission(self, request: Request, view: object) -> bool:
        """Check the role."""
        return is_researcher(request.user)


class WorkerLogSerializer(serializers.ModelSerializer[RunWorker]):
    """The part of one worker: bytes are peaks, `seconds` is its busy time."""

    rate = serializers.FloatField(source="average_rate", allow_null=True)
    state = MessageJSON(read_only=True)

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
    """Hosts whose workers serve a metric's queue: `able` ones, and what each other host lacks."""

    able = serializers.ListField(child=serializers.CharField())
    lacking = serializers.DictField(child=serializers.ListField(child=MessageJSON()))
    is_stuck = serializers.BooleanField()


class TurnSerializer(serializers.Serializer[Turn]):
    """The position in the queue of its workers, and seconds.

    These are the seconds until it begins, that it takes, and until it ends; null if unknown.
    """

    queue = serializers.CharField()
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
    error = MessageJSON(read_only=True)

    class Meta:
        model = FailedText
        fields = ("segment", "system", "output", "error", "attempts")


class SpendingSerializer(serializers.ModelSerializer[JudgeSpending]):
    """The budget and the spending of a judge's run; `report` describes its scores."""

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
    message = MessageJSON(read_only=True)
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
        """Return what an active run waits for; null for one that has ended."""
        if not run.is_active:
            return None
        context: Any = self.context  # one for all runs of an answer
        if "turns" not in context:
            context["turns"] = waiting.turns()
        turn = context["turns"].get(run.pk)
        return TurnSerializer(turn).data if turn else None


class TruncationSerializer(serializers.Serializer[Counts]):
    """How many outputs the metric truncated, or scored in parts if `in_parts` is true.

    Of the `n_scored` outputs with a score, these are the numbers of outputs with an output, source
    or reference beyond the limit of the metric, and of those for which it is unknown.
    """

    n_scored = serializers.IntegerField()
    n_truncated = serializers.IntegerField()
    n_unknown = serializers.IntegerField()
    in_parts = serializers.BooleanField()


class RunDetailSerializer(RunSerializer):
    """A run with counts over its outputs; null before the run has a signature."""

    truncation = serializers.SerializerMethodField()

    class Meta(RunSerializer.Meta):
        fields = (*RunSerializer.Meta.fields, "truncation")  # type: ignore[assignment]

    @extend_schema_field(TruncationSerializer(allow_null=True))
    def get_truncation(self, run: MetricRun) -> Any:
        """Count truncated outputs of the run."""
        counts = truncation_of(run)
        return TruncationSerializer(counts).data if counts else None


class StartSerializer(serializers.Serializer[object]):
    """What to score: `systems` are names, of every length ratio unless `length_ratio` is given."""

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
        """Refuse an invalid amount."""
        if not 0 < value < math.inf:
            raise serializers.ValidationError(NO_BUDGET.text, code=NO_BUDGET.code)
        return value

    def validate_metrics(self, names: list[str]) -> list[str]:
        """Refuse unknown metrics."""
        unknown = sorted(set(names) - set(catalogue.infos()))
        if unknown:
            refusals = map(catalogue.refusal, unknown)
            raise serializers.ValidationError(
                [ErrorDetail(each.text, each.code) for each in refusals]
            )
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
                problem = plural(
                    "run.unknown-systems",
                    "The test set has no system {names}.",
                    "The test set has no systems {names}.",
                    n=len(missing),
                    names=missing,
                )
                raise invalid_field("systems", problem)
        if not rows:
            problem = message("run.no-such-system", "The test set has no such system.")
            raise invalid_field("systems", problem)
        return data | {"systems": list(rows)}


class StartedSerializer(serializers.Serializer[runs.Started]):
    """New runs, identical runs that were already active, and refusals."""

    runs = RunSerializer(many=True)
    active = RunSerializer(many=True)
    refused = serializers.ListField(child=MessageJSON())


ENDED = message("run.ended", "This run has already ended.")


def _refused(problem: Message, code: int) -> Response:
    return Response({"error": problem.text, "message": as_json(problem)}, status=code)


class OfTestSetViewSet(
    TakesParameters,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    viewsets.GenericViewSet[Any],
):
    """Rows of test sets; `?test_set=slug` selects one."""

    scope: ClassVar[str] = ApiToken.Scope.SCORE
    takes: ClassVar[Mapping[str, Texts]] = {"list": {"test_set": "The short name of a test set."}}
    permission_classes = (MayRun,)

    def get_queryset(self) -> QuerySet[Any]:
        """Filter by test set."""
        slug = self.request.query_params.get("test_set")
        rows = readable(super().get_queryset(), self.request.user)
        if not slug:
            return rows
        if not visible_test_sets(self.request.user).filter(slug=slug).exists():
            raise FilterError(
                message(
                    "runs.no-test-set",
                    "test_set: there is no test set “{slug}”.",
                    slug=quoted(slug),
                )
            )
        return rows.filter(test_set__slug=slug)


@extend_schema(tags=["metric runs"])
class RunViewSet(OfTestSetViewSet):
    """Runs, newest first; `?test_set=slug` selects one test set."""

    serializer_class = RunSerializer
    queryset = (
        MetricRun.objects.select_related("test_set", "signature", "spending")
        .prefetch_related("workers__slices")
        .order_by("-pk")
    )

    def get_serializer_class(self) -> type[RunSerializer]:
        """Return the serializer; a single run has additional counts."""
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
        """Cancel a run; 409 if it had ended, 503 while a worker that does not respond locks it."""
        run = self.get_object()
        try:
            is_cancelled = runs.cancel(run)
        except RunLockedError as error:
            return _refused(error.message, status.HTTP_503_SERVICE_UNAVAILABLE)
        if not is_cancelled:
            return _refused(ENDED, status.HTTP_409_CONFLICT)
        run.refresh_from_db()
        return Response(RunSerializer(run).data)
