"""Scores of metrics that were computed elsewhere, in the API: list, import, withdraw."""

from typing import Any

from django.core.exceptions import ValidationError
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.parsers import FormParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import (
    may_change_test_set,
    test_set_for_reader,
    test_set_refusal,
)
from annotation.api.imports import BEGUN, MAX_PROBLEMS, ProblemSerializer, begun
from annotation.api.requests import TextsField
from annotation.imports import background
from annotation.models import TestSet
from annotation.uploads import InputFile
from annotation.uploads.tables.lines import LINES
from annotation.uploads.tables.skipping import KINDS
from metrics.api.runs import OfTestSetViewSet
from metrics.imported.checking import Checked, Found, bring_in, check
from metrics.imported.files import Choices
from metrics.imported.storing import withdraw
from metrics.models import MetricImport
from metrics.spans import doors


class MetricImportSerializer(serializers.ModelSerializer[MetricImport]):
    """One import of one metric; the newest import that is not withdrawn is shown."""

    test_set: serializers.SlugRelatedField[TestSet] = serializers.SlugRelatedField(
        slug_field="slug", read_only=True
    )
    signature = serializers.CharField(source="signature.signature")
    files = serializers.ListField(child=serializers.DictField(child=serializers.CharField()))

    class Meta:
        model = MetricImport
        fields = (
            "id",
            "test_set",
            "metric",
            "signature",
            "provenance",
            "files",
            "n_outputs",
            "n_systems",
            "n_parts",
            "created_at",
            "withdrawn_at",
        )


class MetricScoresSerializer(serializers.Serializer[object]):
    """Files with scores, and their meaning.

    `columns` maps columns to segment, system, metric, score or language_pair. `metrics` names those
    to import, by default all but human scores. `names` gives metrics other names. The direction of
    metrics that neither `lower_is_better` nor `higher_is_better` names is inferred; if that is not
    possible, the import is refused. Rows with problems of the kinds in `skip` are skipped and
    counted. `lines` is the meaning of line n in files without keys: the segment with key n, the nth
    as listed, or the nth of the export to mt-metrics-eval. `system` is the system of files that
    name none.
    """

    test_set = serializers.SlugRelatedField(slug_field="slug", queryset=TestSet.objects.all())
    files = serializers.ListField(
        child=serializers.FileField(allow_empty_file=True), allow_empty=False
    )
    columns = TextsField()
    metrics = serializers.ListField(child=serializers.CharField(), required=False)
    names = TextsField()
    lower_is_better = serializers.ListField(
        child=serializers.CharField(), required=False, default=list
    )
    higher_is_better = serializers.ListField(
        child=serializers.CharField(), required=False, default=list
    )
    skip = serializers.ListField(
        child=serializers.ChoiceField(choices=list(KINDS)), required=False, default=list
    )
    lines = serializers.ChoiceField(choices=LINES, required=False, default="", allow_blank=True)
    system = serializers.CharField(required=False, default="", allow_blank=True)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)
    dry_run = serializers.BooleanField(required=False, default=False)


class FoundMetricSerializer(serializers.Serializer[Found]):
    """One metric in the files; `coverage` counts scored outputs by system.

    `direction` is the reason for `lower_is_better`, which is null if the direction has to be
    stated.
    """

    key = serializers.CharField()
    name = serializers.CharField()
    is_taken = serializers.BooleanField()
    lower_is_better = serializers.BooleanField(source="is_lower", allow_null=True)
    direction = serializers.CharField()
    n_outputs = serializers.IntegerField()
    n_systems = serializers.IntegerField()
    n_parts = serializers.IntegerField()
    n_missing = serializers.IntegerField()
    coverage = serializers.DictField(child=serializers.IntegerField())
    change = serializers.CharField(default=None)
    becomes = serializers.CharField(default=None)


class CheckedScoresSerializer(serializers.Serializer[Checked]):
    """The content of files, and warnings."""

    warnings = serializers.SerializerMethodField()
    notes = serializers.SerializerMethodField()
    metrics = FoundMetricSerializer(many=True)
    stored = MetricImportSerializer(many=True, required=False)

    def get_warnings(self, checked: Checked) -> list[str]:
        """Return what is allowed but may be a mistake."""
        return [str(problem) for problem in checked.report.warnings]

    def get_notes(self, checked: Checked) -> list[str]:
        """Return what was done to the files."""
        return [str(problem) for problem in checked.report.notes]


@extend_schema(tags=["metrics"])
class MetricImportViewSet(OfTestSetViewSet):
    """Imported metric scores, newest first; `?test_set=slug` for one test set."""

    serializer_class = MetricImportSerializer
    parser_classes = (MultiPartParser, FormParser)
    lookup_value_regex = "[0-9]{1,18}"
    queryset = MetricImport.objects.select_related("test_set", "signature").order_by("-pk")

    @extend_schema(
        request={"multipart/form-data": MetricScoresSerializer},
        responses={200: CheckedScoresSerializer, 201: CheckedScoresSerializer, 202: BEGUN},
    )
    def create(self, request: Request, format: str | None = None) -> Response:
        """Import scores; with `dry_run` only return what would change.

        400 with every error; 200 if nothing was stored, because of a dry run or because it was
        stored already.
        """
        form = MetricScoresSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = form.validated_data
        _require_change(request, given["test_set"])
        files = [InputFile.sent(file) for file in given["files"]]
        names = given.get("metrics")
        choices = Choices(
            columns=given["columns"],
            metrics=tuple(names) if names else None,
            metric=names[0] if names and len(names) == 1 else "",
            names=given["names"],
            lower=frozenset(given["lower_is_better"]),
            higher=frozenset(given["higher_is_better"]),
            skip=frozenset(given["skip"]),
            lines=given["lines"],
            system=given["system"],
        )
        if background.is_large(files):
            options = {"note": given["note"], "store": not given["dry_run"]}
            values = doors.to_values(given["test_set"], choices, **options)
            return begun(request, doors.sent_files(doors.METRIC_SCORES, files), values)
        checked = check(given["test_set"], files, choices)
        if errors := checked.report.errors:
            problems: Any = checked.report.problems[:MAX_PROBLEMS]
            data = {
                "files": [str(problem) for problem in errors],
                "problems": ProblemSerializer(problems, many=True).data,
            }
            return Response(data, status=status.HTTP_400_BAD_REQUEST)
        if given["dry_run"]:
            return Response(CheckedScoresSerializer(checked).data)
        return self._store(request, checked, given["note"])

    def _store(self, request: Request, checked: Checked, note: str) -> Response:
        try:
            outcomes = bring_in(checked, user=request.user, provenance=note)
        except ValidationError as error:
            raise serializers.ValidationError(serializers.as_serializer_error(error)) from error
        rows = [each.row for each in outcomes if each.row is not None]
        document = {
            **CheckedScoresSerializer(checked).data,
            "stored": MetricImportSerializer(rows, many=True).data,
        }
        code = status.HTTP_201_CREATED if rows else status.HTTP_200_OK
        return Response(document, status=code)

    @extend_schema(request=None, responses={200: MetricImportSerializer, 409: None})
    @action(detail=True, methods=["post"])
    def withdraw(self, request: Request, pk: str, format: str | None = None) -> Response:
        """Withdraw the metric's imported scores of this test set; 409 if already withdrawn."""
        row = self.get_object()
        _require_change(request, row.test_set)
        if row.withdrawn_at or not withdraw(row.test_set, row.metric, user=request.user):
            message = "These scores are withdrawn already."
            return Response({"error": message}, status=status.HTTP_409_CONFLICT)
        row.refresh_from_db()
        return Response(MetricImportSerializer(row).data)


def _require_change(request: Request, test_set: TestSet) -> None:
    test_set_for_reader(request, test_set.slug)
    if not may_change_test_set(request.user, test_set):
        raise PermissionDenied(str(test_set_refusal(test_set)))
