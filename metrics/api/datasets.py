"""Import whole data sets through the API: archives, and published sets on the server.

A worker reads and stores them; the answer to a POST has the address of the import.
"""

from typing import Any

from django.core.exceptions import ValidationError
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import signed_in
from annotation.api.imports import BEGUN, MayImport, state_of
from annotation.api.parameters import TakesParameters
from annotation.uploads import InputFile
from annotation.uploads.files import too_large
from metrics import datasets
from metrics.datasets import mtme
from metrics.datasets.door import FOLDER, PUBLISHED, begin
from metrics.forms.datasets import not_a_pair


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


class FolderImportView(TakesParameters):
    """Folders in the layout of mt-metrics-eval, uploaded as an archive."""

    permission_classes = (MayImport,)
    parser_classes = (MultiPartParser,)

    @extend_schema(
        tags=["imports"],
        request={"multipart/form-data": FolderSerializer},
        responses={202: BEGUN},
    )
    def post(self, request: Request, format: str | None = None) -> Response:
        """Let a worker check an archive, and store it unless it is a dry run."""
        form = FolderSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        values = dict(form.validated_data)
        archive, is_dry_run = InputFile.sent(values.pop("archive")), values.pop("dry_run")
        row = begin(signed_in(request), FOLDER, values, archive, store=not is_dry_run)
        return state_of(request, row, 202)


class PublishedImportView(TakesParameters):
    """Published sets whose files are on the server."""

    permission_classes = (MayImport,)

    @extend_schema(tags=["imports"], request=PublishedSerializer, responses={202: BEGUN})
    def post(self, request: Request, format: str | None = None) -> Response:
        """Let a worker check a set, and store it unless it is a dry run."""
        form = PublishedSerializer(data=request.data)
        form.is_valid(raise_exception=True)
        values = {"dataset": form.validated_data["dataset"]}
        is_dry_run = form.validated_data["dry_run"]
        row = begin(signed_in(request), PUBLISHED, values, store=not is_dry_run)
        return state_of(request, row, 202)
