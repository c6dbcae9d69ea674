"""Imports for programs: tables, with a dry run; every problem has a message and a place.

Campaign admins only. The serializers of problems serve every import of the API.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.db.models import QuerySet
from django.urls import reverse
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.exceptions import ParseError
from rest_framework.parsers import MultiPartParser
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import protocols
from annotation.access import is_admin, is_site_admin, signed_in, visible_test_sets
from annotation.api.parameters import TakesParameters
from annotation.api.requests import request_of
from annotation.doors import as_values
from annotation.filters import FilterError
from annotation.forms.tables import HumanScoresForm, JudgmentsForm, TablesForm
from annotation.imports import background, sources
from annotation.imports.judgments.options import HIGHER, LOWER
from annotation.imports.sources import Reading
from annotation.imports.store import launch
from annotation.models import ApiToken, Campaign, FileImport
from annotation.uploads import Report, waiting
from annotation.uploads.problems import Place, Problem
from annotation.uploads.tables.skipping import KINDS, skipped
from annotation.uploads.waiting import Sent
from annotation.views.uploads import is_too_large, too_large_sentence
from annotation.web import fresh_links
from core.messages import messages_of
from core.text import pluralize
from metaeval.messages import Message

MAX_PROBLEMS = 1_000
SCOPE = ApiToken.Scope.ANNOTATE_ADMIN
RETRY_SECONDS = 2


class MayImport(BasePermission):
    """Campaign admins and site admins import."""

    def has_permission(self, request: Request, view: object) -> bool:
        """Check the role."""
        return is_admin(request.user)


class ProblemSerializer(serializers.Serializer[Problem]):
    """A problem of an import; `row` is the line in the file, from 1, a header included.

    `code` says which problem it is, and `parameters` what the English `text` was made of with its
    `pattern`. `message` is the same as `text`. `more` says how often a cause was found, and where.
    """

    severity = serializers.ChoiceField(choices=["error", "warning", "note"])
    message = serializers.CharField()
    file = serializers.CharField(allow_blank=True)
    row = serializers.IntegerField(allow_null=True)
    field = serializers.CharField(allow_blank=True)
    code = serializers.CharField()
    text = serializers.CharField()
    pattern = serializers.CharField()
    plural = serializers.CharField(required=False)
    parameters = serializers.DictField()
    more = serializers.DictField(allow_null=True)

    def to_representation(self, instance: Problem) -> dict[str, Any]:
        """Return the problem with its message."""
        return instance.as_json() | {"message": instance.message.text}


class RefusedSerializer(serializers.Serializer[object]):
    """Why nothing was stored."""

    error = serializers.CharField()
    problems = ProblemSerializer(many=True, required=False)


REFUSALS: dict[int, Any] = {
    400: OpenApiResponse(None, "Nothing was stored: every error with its place."),
    403: OpenApiResponse(None, "Only campaign admins import."),
    413: OpenApiResponse(None, "The body is too large."),
    415: OpenApiResponse(None, "The body is not a multipart form."),
}


class ImportedCampaignSerializer(serializers.Serializer[object]):
    """A campaign of an import, stored or to be stored; `kinds` counts items."""

    slug = serializers.CharField()
    name = serializers.CharField()
    study = serializers.CharField()
    question = serializers.CharField()
    test_set = serializers.CharField()
    source_language = serializers.CharField()
    target_language = serializers.CharField()
    protocol = serializers.ChoiceField(choices=protocols.CHOICES)
    n_segments = serializers.IntegerField()
    n_systems = serializers.IntegerField()
    n_annotators = serializers.IntegerField()
    n_items = serializers.IntegerField()
    n_judgments = serializers.IntegerField()
    n_published = serializers.IntegerField()
    lower_is_better = serializers.BooleanField()
    direction = serializers.CharField()
    kinds = serializers.DictField(child=serializers.IntegerField())


class ImportSerializer(serializers.Serializer[object]):
    """What an import did or, in a dry run, would do; `columns` maps each to its field."""

    stored = serializers.BooleanField()
    columns = serializers.DictField(child=serializers.CharField())
    campaigns = ImportedCampaignSerializer(many=True)
    problems = ProblemSerializer(many=True)


_NAMES = {
    f"{side}_is_better": serializers.ListField(child=serializers.CharField(), required=False)
    for side in (LOWER, HIGHER)
}
HumanScoresRequest = request_of(HumanScoresForm, "HumanScoresRequest", **_NAMES)
JudgmentsRequest = request_of(
    JudgmentsForm,
    "JudgmentsRequest",
    protocol=serializers.ChoiceField(required=False, choices=protocols.CHOICES),
    shown_text=serializers.ChoiceField(required=False, choices=Campaign.ShownText.choices),
)


class FlagsSerializer(serializers.Serializer[object]):
    """Options that a program turns on: a form would read any word but `false` as true."""

    dry_run = serializers.BooleanField(required=False, default=False)
    ends_included = serializers.BooleanField(required=False, default=False)
    headless = serializers.BooleanField(required=False, default=False)
    skip = serializers.ListField(child=serializers.ChoiceField(choices=list(KINDS)), required=False)


def refusal(
    sentence: str, problems: list[Problem], code: int = status.HTTP_400_BAD_REQUEST
) -> Response:
    """Return the response to an import that cannot be stored."""
    data = RefusedSerializer({"error": sentence, "problems": problems[:MAX_PROBLEMS]}).data
    return Response(data, status=code)


def unless_too_large(request: Request) -> Response | None:
    """Return the refusal of a body that is too large; such a body is never read."""
    if not is_too_large(request._request):
        return None
    refused = {"error": too_large_sentence().text}
    return Response(refused, status=status.HTTP_413_REQUEST_ENTITY_TOO_LARGE)


def problems_of_forms(
    form: Mapping[str, Iterable[ValidationError]], flags: Mapping[str, Iterable[object]]
) -> list[Problem]:
    """Return the errors of a form and of a serializer as problems of their fields."""
    report = Report()
    for name, errors in form.items():
        place = Place(field="" if name == NON_FIELD_ERRORS else name)
        for error in errors:
            for text in messages_of(error):
                report.error(text, place)
    for name, details in flags.items():
        for each in details:
            code = str(getattr(each, "code", "invalid"))
            report.error(Message(f"form.{code}", "{text}", {"text": str(each)}), Place(field=name))
    return report.problems


class ImportView(TakesParameters):
    """Reads tables by a form, as the page does."""

    permission_classes = (MayImport,)
    parser_classes = (MultiPartParser,)
    form: ClassVar[type[TablesForm]]

    def handle_exception(self, exc: Exception) -> Response:
        """Answer a body that is not a form like every other error of an import."""
        if isinstance(exc, ParseError | FilterError):
            return refusal(f"The request cannot be read: {exc}", [])
        return super().handle_exception(exc)

    def take(self, request: Request) -> Response:
        """Read what was sent and, unless this is a dry run, store it."""
        if (refused := unless_too_large(request)) is not None:
            return refused
        flags = FlagsSerializer(data=request.POST)
        flags.is_valid()
        given = request.POST.copy()
        for name in ("ends_included", "headless"):
            given[name] = str(flags.validated_data.get(name, False))
        form = self.form(given, request.FILES)
        form.offer(visible_test_sets(request.user))
        form.prefix = None  # the page has several forms, a program sends one
        if wrong := problems_of_forms(form.errors.as_data(), flags.errors):
            return refusal("The request cannot be read.", wrong)
        sent, is_dry_run = form.sent(), flags.validated_data["dry_run"]
        if background.is_large(sent.files.values()):
            return begun(request, sent, {"store": not is_dry_run})
        reading, report = sources.check(sent, request.user)
        if report.errors:
            return refusal(
                f"{pluralize(len(report.errors), 'error')}; nothing was stored.", report.problems
            )
        if is_dry_run:
            return _answer(reading, report, is_stored=False, is_new=False)
        return self._store(request, reading, report)

    def _store(self, request: Request, reading: Reading, report: Report) -> Response:
        try:
            launched = launch(reading.drafts, user=request.user, skipped=skipped(report))
        except ValidationError as error:
            problems = [Problem("error", text) for text in messages_of(error)]
            return refusal("Nothing was stored.", problems)
        is_new = any(each.result.is_new for each in launched)
        return _answer(reading, report, is_stored=True, is_new=is_new)


def _answer(reading: Reading, report: Report, *, is_stored: bool, is_new: bool) -> Response:
    data = ImportSerializer(
        {
            "stored": is_stored,
            **as_values(reading),
            "problems": report.problems[:MAX_PROBLEMS],
        }
    ).data
    return Response(data, status=status.HTTP_201_CREATED if is_new else status.HTTP_200_OK)


class FileImportSerializer(serializers.ModelSerializer[FileImport]):
    """An import by a worker: `stage`, `done` and `total` say how far it has come.

    `report` are problems, `stored` what was stored, or found in a dry run. `links` are the personal
    links of new annotators, which only the sender of the files gets, for a day.
    """

    links = serializers.SerializerMethodField()
    stored = serializers.SerializerMethodField()
    page = serializers.SerializerMethodField()
    report = serializers.SerializerMethodField()

    class Meta:
        model = FileImport
        fields = (
            "id", "door", "name", "state", "stage", "done", "total", "report", "stored", "links",
            "page", "created_at",
        )  # fmt: skip

    def get_page(self, row: FileImport) -> str:
        """Return the address of the page of the import."""
        return row.get_absolute_url()

    def get_stored(self, row: FileImport) -> dict[str, Any]:
        """Return what was stored, without the links."""
        return {name: value for name, value in row.stored.items() if name != "links"}

    def get_links(self, row: FileImport) -> list[dict[str, str]]:
        """Return the personal links of the campaigns that were stored.

        A token must be able to create annotators: reading alone shows nobody's link.
        """
        request = self.context.get("request")
        if request is None or row.created_by_id != request.user.pk:
            return []
        if isinstance(request.auth, ApiToken) and SCOPE not in request.auth.scopes:
            return []
        return [
            {"campaign": slug, "annotator": label, "link": link}
            for slug, rows in row.stored.get("links", {}).items()
            for label, link in fresh_links.personal(request, rows)
        ]

    @extend_schema_field(ProblemSerializer(many=True))
    def get_report(self, row: FileImport) -> Any:
        """Return errors, warnings and notes, by file, row and field."""
        problems: Any = background.report_of(row).problems
        return ProblemSerializer(problems, many=True).data


BEGUN = OpenApiResponse(FileImportSerializer, "The files are large: a worker imports them.")


def begun(request: Request, sent: Sent, choices: Mapping[str, Any], *, name: str = "") -> Response:
    """Let a worker import files, and answer with the address of the import."""
    user = signed_in(request)
    token = waiting.keep(sent, user.pk)
    return state_of(request, background.begin(user, token, choices, name=name), 202)


def state_of(request: Request, row: FileImport, code: int) -> Response:
    """Answer with an import: `Retry-After` while it goes on, `Location` where it is new."""
    headers = {"Retry-After": str(RETRY_SECONDS)} if row.is_waiting else {}
    headers["Cache-Control"] = "no-store"
    if code == status.HTTP_202_ACCEPTED:
        headers["Location"] = reverse("api-file-import-detail", args=[row.pk])
    data = FileImportSerializer(row, context={"request": request}).data
    return Response(data, status=code, headers=headers)


@extend_schema(tags=["imports"])
class FileImportViewSet(
    TakesParameters, mixins.ListModelMixin, viewsets.GenericViewSet[FileImport]
):
    """The user's own imports by workers, newest first; all imports for site admins."""

    serializer_class = FileImportSerializer
    permission_classes = (MayImport,)
    lookup_value_regex = "[0-9]{1,18}"
    queryset = FileImport.objects.all()

    def get_queryset(self) -> QuerySet[FileImport]:
        """Exclude imports of other users."""
        rows = super().get_queryset()
        is_all = is_site_admin(self.request.user)
        return rows if is_all else rows.filter(created_by_id=self.request.user.pk)

    def retrieve(self, request: Request, pk: str, format: str | None = None) -> Response:
        """Return an import, with `Retry-After` while a worker has something to do."""
        return state_of(request, self.get_object(), status.HTTP_200_OK)

    @extend_schema(responses={200: FileImportSerializer, 409: RefusedSerializer})
    def destroy(self, request: Request, pk: str, format: str | None = None) -> Response:
        """Cancel an import, of which nothing remains; 409 if it has ended."""
        row = self.get_object()
        if not background.cancel(row):
            refused = {"error": "This import has already ended."}
            return Response(refused, status=status.HTTP_409_CONFLICT)
        row.refresh_from_db()
        return state_of(request, row, status.HTTP_200_OK)


class JudgmentsImportView(ImportView):
    """Tables of judgments that were collected elsewhere."""

    form = JudgmentsForm

    @extend_schema(
        tags=["imports"],
        request={"multipart/form-data": JudgmentsRequest},
        responses={
            200: OpenApiResponse(ImportSerializer, "A dry run, or all was stored already."),
            201: ImportSerializer,
            202: BEGUN,
            **REFUSALS,
        },
    )
    def post(self, request: Request, format: str | None = None) -> Response:
        """Import judgments: all of them or none; `dry_run` stores nothing."""
        return self.take(request)


class HumanScoresImportView(ImportView):
    """Tables of published scores of segments and systems."""

    form = HumanScoresForm

    @extend_schema(
        tags=["imports"],
        request={"multipart/form-data": HumanScoresRequest},
        responses={
            200: OpenApiResponse(ImportSerializer, "A dry run, or all was stored already."),
            201: ImportSerializer,
            202: BEGUN,
            **REFUSALS,
        },
    )
    def post(self, request: Request, format: str | None = None) -> Response:
        """Import published human scores: all of them or none; `dry_run` stores nothing."""
        return self.take(request)
