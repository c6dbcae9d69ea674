"""Error spans of metrics that were found elsewhere, in the API: try and import."""

from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers, status
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import test_set_for_reader
from annotation.api.imports import (
    BEGUN,
    MAX_PROBLEMS,
    FlagsSerializer,
    MayImport,
    ProblemSerializer,
    begun,
    problems_of_forms,
    refusal,
    unless_too_large,
)
from annotation.api.parameters import TakesParameters
from annotation.api.requests import TextsField, request_of
from annotation.imports import background
from annotation.models import ApiToken, TestSet
from annotation.uploads.problems import Problem
from annotation.uploads.tables.skipping import SKIP
from core.messages import messages_of
from core.text import pluralize
from metrics.forms.spans import SpanFilesForm
from metrics.spans import doors
from metrics.spans.importing import store

SpansRequest = request_of(
    SpanFilesForm,
    "SpansRequest",
    test_set=serializers.SlugRelatedField(slug_field="slug", queryset=TestSet.objects.all()),
)


class SpansSerializer(serializers.Serializer[object]):
    """What an import did or, in a dry run, would do: outputs that were read, and their spans."""

    stored = serializers.BooleanField()
    metric = serializers.CharField(allow_null=True)
    n_outputs = serializers.IntegerField()
    n_spans = serializers.IntegerField()
    columns = serializers.DictField(child=serializers.CharField())
    problems = ProblemSerializer(many=True)


class SpansFlagsSerializer(FlagsSerializer):
    """What the form of the page does not have."""

    test_set = serializers.SlugRelatedField(slug_field="slug", queryset=TestSet.objects.all())
    columns = TextsField()


class MetricSpansView(TakesParameters):
    """Tables of error spans."""

    scope: ClassVar[str] = ApiToken.Scope.SCORE
    permission_classes = (MayImport,)
    parser_classes = (MultiPartParser,)

    @extend_schema(
        tags=["metrics"],
        request={"multipart/form-data": SpansRequest},
        responses={
            200: OpenApiResponse(SpansSerializer, "A dry run, or all was stored already."),
            201: SpansSerializer,
            202: BEGUN,
            413: OpenApiResponse(None, "The body is too large."),
        },
    )
    def post(self, request: Request, format: str | None = None) -> Response:
        """Import error spans: all of them or none; `dry_run` stores nothing."""
        if (refused := unless_too_large(request)) is not None:
            return refused
        flags = SpansFlagsSerializer(data=request.POST)
        form = SpanFilesForm(request.POST, request.FILES)
        flags.is_valid()
        if wrong := problems_of_forms(form.errors.as_data(), flags.errors):
            return refusal("The request cannot be read.", wrong)
        given: dict[str, Any] = flags.validated_data
        test_set = test_set_for_reader(request._request, given["test_set"].slug)
        words = {**form.cleaned_data, "columns": given["columns"]}
        words[SKIP] = ",".join(sorted(given.get("skip", ())))
        values = doors.spans_values(test_set, words, store=not given["dry_run"])
        sent = doors.sent_files(doors.SPANS, form.sent())
        if background.is_large(sent.files.values()):
            return begun(request, sent, values)
        checked = doors.check_spans(test_set, sent, values, request.user)
        problems = checked.report.problems
        if checked.report.errors:
            n = pluralize(len(checked.report.errors), "error")
            return refusal(f"{n}; nothing was stored.", problems)
        outcome = None
        if not given["dry_run"]:
            try:
                outcome = store(checked, request.user)
            except ValidationError as error:
                refusals = [Problem("error", text) for text in messages_of(error)]
                return refusal("Nothing was stored.", refusals)
        body = SpansSerializer(
            {
                "stored": outcome is not None,
                "metric": outcome.metric.name if outcome else None,
                "n_outputs": len(checked.spans),
                "n_spans": sum(map(len, checked.spans.values())),
                "columns": checked.fields,
                "problems": problems[:MAX_PROBLEMS],
            }
        ).data
        is_new = outcome is not None and outcome.row is not None
        return Response(body, status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK)
