"""Metrics, checkpoints and workers in the API. Researchers read, site admins configure."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.exceptions import ErrorDetail, NotFound
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import ONLY_SITE_ADMINS, is_researcher, is_site_admin
from annotation.api.parameters import TakesParameters, Texts
from annotation.filters import FilterError
from annotation.filters.choice import quoted
from annotation.models import ApiToken
from core.messages import as_json
from metaeval.messages import message
from metaeval.reasons import reason_of
from metrics import catalogue
from metrics.api.runs import HostsSerializer, MessageJSON
from metrics.base import MetricError, MetricInfo
from metrics.models import ConfiguredMetric, fleet
from metrics.models.fleet import Seat
from metrics.runs import waiting
from metrics.runs.waiting import Hosts
from metrics.stock import hosts, inventory
from metrics.stock.hosts import Stock


class MayConfigure(BasePermission):
    """Let researchers read and site admins change."""

    def has_permission(self, request: Request, view: object) -> bool:
        """Check the role that the method needs."""
        if request.method in SAFE_METHODS:
            return is_researcher(request.user)
        self.message, self.code = ONLY_SITE_ADMINS.text, ONLY_SITE_ADMINS.code
        return is_site_admin(request.user)


class MetricSerializer(serializers.Serializer[MetricInfo]):
    """A metric as on the page of metrics; its description is a message or text."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    family = serializers.CharField()
    description = MessageJSON(read_only=True)
    citation = serializers.CharField()
    queue = serializers.CharField()
    needs_source = serializers.BooleanField()
    needs_reference = serializers.BooleanField()
    higher_is_better = serializers.BooleanField()
    measures = serializers.ListField(child=serializers.CharField())
    shown = serializers.ListField(source="table_measures", child=serializers.CharField())
    checkpoint = serializers.CharField()
    options = serializers.SerializerMethodField()
    is_retired = serializers.SerializerMethodField()
    is_imported = serializers.BooleanField()
    hosts = serializers.SerializerMethodField()

    @extend_schema_field(HostsSerializer(allow_null=True))
    def get_hosts(self, info: MetricInfo) -> Any:
        """Return where it can run now, and what other hosts lack; null for imported metrics."""
        if info.is_imported:
            return None
        context: Any = self.context  # one for all metrics of an answer
        if "hosts" not in context:
            context["hosts"] = waiting.hosts_for([*catalogue.infos(retired=True).values()])
        return HostsSerializer(context["hosts"].get(info.name, Hosts())).data

    def get_options(self, info: MetricInfo) -> dict[str, Any]:
        """Return the options of a configured metric."""
        return dict(info.options)

    def get_is_retired(self, info: MetricInfo) -> bool:
        """Return whether new runs are refused."""
        return info.name in self.context.get("retired", ())


class ConfigureSerializer(serializers.Serializer[object]):
    """A metric to add; `dry_run` only describes it."""

    family = serializers.CharField()
    name = serializers.CharField(max_length=60)
    label = serializers.CharField(max_length=80)  # type: ignore[assignment]
    options = serializers.DictField(required=False, default=dict)
    dry_run = serializers.BooleanField(required=False, default=False, write_only=True)


@extend_schema(tags=["metrics"])
class MetricViewSet(TakesParameters, viewsets.GenericViewSet[Any]):
    """Metrics in the order of all lists.

    `?retired=yes` also shows metrics that cannot be run: retired ones, and those with imported
    scores.
    """

    scope: ClassVar[str] = ApiToken.Scope.SITE
    takes: ClassVar[Mapping[str, Texts]] = {"list": {"retired": "`yes` or `no`."}}
    permission_classes = (MayConfigure,)
    serializer_class = MetricSerializer
    lookup_field = "name"
    lookup_value_regex = "[^/]+"
    queryset = ConfiguredMetric.objects.none()

    def get_serializer_context(self) -> dict[str, Any]:
        """Add the names of retired metrics."""
        rows = ConfiguredMetric.objects.exclude(retired_at=None)
        retired = set(rows.values_list("name", flat=True))
        return {**super().get_serializer_context(), "retired": retired}

    @extend_schema(responses={200: MetricSerializer(many=True)})
    def list(self, request: Request, format: str | None = None) -> Response:
        """List them."""
        retired = request.query_params.get("retired") or "no"
        if retired not in ("yes", "no"):
            raise FilterError(
                message(
                    "metrics.retired",
                    "retired must be yes or no, not “{value}”.",
                    value=quoted(retired),
                )
            )
        infos = catalogue.infos(retired=retired == "yes")
        page = self.paginate_queryset(list(infos.values()))
        return self.get_paginated_response(self.get_serializer(page, many=True).data)

    def retrieve(self, request: Request, name: str, format: str | None = None) -> Response:
        """Return one, retired or not."""
        return Response(self.get_serializer(_find(name)).data)

    @extend_schema(
        request=ConfigureSerializer, responses=dict.fromkeys((200, 201), MetricSerializer)
    )
    def create(self, request: Request, format: str | None = None) -> Response:
        """Add a metric of a family."""
        form = ConfigureSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        wanted = dict(form.validated_data)
        is_trial = wanted.pop("dry_run")
        try:
            if is_trial:
                return Response(self.get_serializer(catalogue.describe(**wanted)).data)
            row = catalogue.configure(**wanted, user=request.user)
        except ValidationError as error:
            raise serializers.ValidationError(serializers.as_serializer_error(error)) from error
        except (ValueError, MetricError) as error:
            problem = reason_of(error)
            # The text names the option.
            detail = ErrorDetail(str(error), problem.code)
            raise serializers.ValidationError({"options": [detail]}) from error
        return Response(self.get_serializer(row.info).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=None, responses={200: MetricSerializer, 409: None})
    @action(detail=True, methods=["post"])
    def retire(self, request: Request, name: str, format: str | None = None) -> Response:
        """Retire a configured metric; 409 for others and for one that is retired."""
        info = _find(name)
        if not catalogue.retire(name):
            problem = message(
                "metric.not-retired",
                "{metric} is already retired, or it is not a configured metric.",
                metric=info.label,
            )
            body = {"error": problem.text, "message": as_json(problem)}
            return Response(body, status=status.HTTP_409_CONFLICT)
        return Response(self.get_serializer(info).data)


def _find(name: str) -> MetricInfo:
    info = catalogue.find(name)
    if info is None:
        raise NotFound
    return info


class RunningSerializer(serializers.Serializer[Any]):
    """The current job of a worker."""

    id = serializers.IntegerField()
    metric = serializers.CharField()
    test_set = serializers.CharField(source="test_set.slug")


class ChildSerializer(serializers.Serializer[Any]):
    """A process of a worker.

    It has its device, bytes of memory, checkpoints in memory, its run, and the texts that it scores
    per second.
    """

    pid = serializers.IntegerField(source="child.pid")
    device = serializers.CharField(source="child.device")
    memory = serializers.IntegerField(source="child.memory", allow_null=True)
    resident = serializers.JSONField(source="child.resident")
    run = serializers.SerializerMethodField()
    rate = serializers.SerializerMethodField()

    @extend_schema_field(RunningSerializer(allow_null=True))
    def get_run(self, slot: fleet.Slot) -> Any:
        """Return the run that it is scoring."""
        return RunningSerializer(slot.part.run).data if slot.part else None

    def get_rate(self, slot: fleet.Slot) -> float | None:
        """Return texts per second."""
        return slot.part.rate if slot.part else None


class WorkerSerializer(serializers.Serializer[Seat]):
    """A worker: `seconds` since its last report, bytes of memory of all its processes; `lacks` are
    messages by metric."""

    name = serializers.CharField(source="worker.name")
    host = serializers.CharField(source="worker.host")
    pid = serializers.IntegerField(source="worker.pid")
    state = serializers.CharField()
    seconds = serializers.FloatField()
    children = ChildSerializer(many=True)
    queues = serializers.JSONField(source="worker.queues")
    devices = serializers.JSONField(source="worker.devices")
    memory = serializers.IntegerField()
    lacks = serializers.JSONField(source="worker.lacks")
    checkpoints = serializers.JSONField(source="worker.checkpoints")
    versions = serializers.JSONField(source="worker.versions")
    started_at = serializers.DateTimeField(source="worker.started_at")
    seen_at = serializers.DateTimeField(source="worker.seen_at")


@extend_schema(tags=["fleet"])
class WorkerViewSet(TakesParameters, viewsets.GenericViewSet[Any]):
    """The workers that reported within the last day."""

    permission_classes = (MayConfigure,)
    serializer_class = WorkerSerializer
    queryset = fleet.Worker.objects.none()

    @extend_schema(responses={200: WorkerSerializer(many=True)})
    def list(self, request: Request, format: str | None = None) -> Response:
        """List them."""
        page = self.paginate_queryset(fleet.fleet())
        return self.get_paginated_response(self.get_serializer(page, many=True).data)


class StockSerializer(serializers.Serializer[Stock]):
    """A checkpoint: `state` is present, partial, missing or broken; `lacking` are worker hosts."""

    name = serializers.CharField()
    state = serializers.CharField()
    metrics = serializers.SerializerMethodField()
    used_by = serializers.ListField(child=serializers.CharField())
    places = serializers.SerializerMethodField()
    lacking = serializers.ListField(child=serializers.CharField())
    command = serializers.CharField()

    def get_metrics(self, stock: Stock) -> list[str]:
        """Return the names of the metrics that load it."""
        return [info.name for info in stock.users]

    def get_places(self, stock: Stock) -> dict[str, Any]:
        """Return its facts by host."""
        return {str(place.host): _facts(place.found) for place in stock.places}


def _facts(found: Mapping[str, Any]) -> dict[str, Any]:
    problems = {"problems": [*map(as_json, found["problems"])]} if "problems" in found else {}
    return {**found, **problems}


@extend_schema(tags=["fleet"])
class CheckpointViewSet(TakesParameters, viewsets.GenericViewSet[Any]):
    """Checkpoints that metrics need, and others on any host."""

    permission_classes = (MayConfigure,)
    serializer_class = StockSerializer
    queryset = fleet.Worker.objects.none()

    @extend_schema(responses={200: StockSerializer(many=True)})
    def list(self, request: Request, format: str | None = None) -> Response:
        """List them."""
        found = hosts.survey(fleet.live_workers(), inventory.everything_here())
        page = self.paginate_queryset(found)
        return self.get_paginated_response(self.get_serializer(page, many=True).data)
