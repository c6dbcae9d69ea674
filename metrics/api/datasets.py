"""Import whole data sets through the API: archives, and published sets on the server.

A worker reads and stores them; the answer to a POST has the address of the import.
"""

from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import is_site_admin
from annotation.api.imports import ProblemSerializer
from annotation.api.parameters import TakesParameters
from annotation.imports.background import report_of
from annotation.uploads import InputFile
from annotation.uploads.files import too_large
from metrics import datasets
from metrics.datasets import mtme, waiting
from metrics.forms.datasets import not_a_pair
from metrics.models import DatasetImport


class DatasetImportSerializer(serializers.ModelSerializer[DatasetImport]):
    """An import: `found` is the content of the files, `stored` what was stored of it."""

    page = serializers.SerializerMethodField()
    report = serializers.SerializerMethodField()

    class Meta:
        model = DatasetImport
        fields = (
            "id",
            "name",
            "dataset",
            "state",
            "report",
            "found",
            "stored",
            "page",
            "created_at",
        )

    def get_page(self, row: DatasetImport) -> str:
        """Return the address of the page of the import."""
        return reverse("dataset-import", args=[row.pk])

    @extend_schema_field(ProblemSerializer(many=True))
    def get_report(self, row: DatasetImport) -> Any:
        """Return errors, warnings and notes, by file, row and field."""
        problems: Any = report_of(row).problems  # the stubs know of one object only
        return ProblemSerializer(problems, many=True).data


class _Names(serializers.ListField):
    """Names as repeated fields of a form."""

    child = serializers.CharField(max_length=120)


class FolderSerializer(serializers.Serializer[object]):
    """An archive of a folder, and a selection of its content, by default everything."""

    archive = serializers.FileField(write_only=True)
    language_pair = serializers.CharField(required=False, write_only=True, max_length=40)
    human = _Names(required=False, write_only=True)
    metrics = _Names(required=False, write_only=True)
    lower_is_better = _Names(required=False, write_only=True)
    higher_is_better = _Names(required=False, write_only=True)
    name = serializers.CharField(required=False, write_only=True, max_length=80)
    study = serializers.SlugField(required=False, write_only=True, max_length=80)
    question = serializers.CharField(required=False, write_only=True, max_length=2_000)
    dry_run = serializers.BooleanField(required=False, write_only=True, default=False)

    def validate_language_pair(self, pair: str) -> str:
        """Refuse text that does not name two languages."""
        if not mtme.is_pair(pair):
            refused = not_a_pair(pair)
            raise serializers.ValidationError(refused.text, refused.code)
        return pair

    def validate_archive(self, archive: Any) -> Any:
        """Refuse an archive that is too large."""
        if refused := too_large(archive.size):
            raise serializers.ValidationError(refused.text, refused.code)
        return archive


class PublishedSerializer(serializers.Serializer[object]):
    """A published set on the server: `wmt17`, or one language pair of it, `wmt17-zh-en`."""

    dataset = serializers.CharField(write_only=True, max_length=80)
    dry_run = serializers.BooleanField(required=False, write_only=True, default=False)

    def validate_dataset(self, name: str) -> str:
        """Refuse an unknown name."""
        try:
            datasets.find(name)
        except ValidationError as error:
            raise serializers.ValidationError(error.messages) from error
        return name


class _ImportViewSet(
    TakesParameters,
    mixins.ListModelMixin,
    mixins.RetrieveModelMixin,
    viewsets.GenericViewSet[DatasetImport],
):
    """The user's own imports, newest first; all imports for site admins."""

    serializer_class = DatasetImportSerializer
    queryset = DatasetImport.objects.defer("content").order_by("-pk")
    of_dataset: ClassVar[bool]

    def get_queryset(self) -> QuerySet[DatasetImport]:
        """Exclude imports of other users."""
        rows = super().get_queryset()
        rows = rows.exclude(dataset="") if self.of_dataset else rows.filter(dataset="")
        if is_site_admin(self.request.user):
            return rows
        return rows.filter(created_by_id=self.request.user.pk)

    def _begun(self, row: DatasetImport) -> Response:
        return Response(self.get_serializer(row).data, status=status.HTTP_202_ACCEPTED)


@extend_schema(tags=["imports"])
class FolderImportViewSet(_ImportViewSet):
    """Folders in the layout of mt-metrics-eval, uploaded as an archive."""

    parser_classes = (MultiPartParser,)
    of_dataset = False

    @extend_schema(
        request={"multipart/form-data": FolderSerializer}, responses={202: DatasetImportSerializer}
    )
    def create(self, request: Request, format: str | None = None) -> Response:
        """Let a worker check an archive, and store it unless it is a dry run."""
        form = FolderSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        given = dict(form.validated_data)
        file = InputFile.sent(given.pop("archive"))
        is_dry_run = given.pop("dry_run")
        with file.open() as stream:
            row = waiting.begin(
                user=request.user,
                name=file.name,
                content=stream.read(),
                choice=given,
                is_dry_run=is_dry_run,
            )
        return self._begun(row)


@extend_schema(tags=["imports"])
class PublishedImportViewSet(_ImportViewSet):
    """Published sets whose files are on the server."""

    of_dataset = True

    @extend_schema(request=PublishedSerializer, responses={202: DatasetImportSerializer})
    def create(self, request: Request, format: str | None = None) -> Response:
        """Let a worker check a set, and store it unless it is a dry run."""
        form = PublishedSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        name = form.validated_data["dataset"]
        is_dry_run = form.validated_data["dry_run"]
        row = waiting.begin(user=request.user, name=name, dataset=name, is_dry_run=is_dry_run)
        return self._begun(row)
