"""Campaigns for programs: make, open and close them, and read their settings and progress."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import QueryDict
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema, extend_schema_field
from rest_framework import serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.generics import get_object_or_404
from rest_framework.permissions import BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import campaigns
from annotation.access import NOT_YOURS as NOT_YOUR_CAMPAIGN
from annotation.access import (
    is_admin,
    is_researcher,
    readable,
    runs_campaign,
    visible_campaigns,
)
from annotation.api.imports import (
    BEGUN,
    ProblemSerializer,
    begun,
    problems_of_forms,
    refusal,
    unless_too_large,
)
from annotation.api.pages import ListedRows
from annotation.api.parameters import TakesParameters, Texts
from annotation.api.test_sets import ProjectSlug, SystemSerializer
from annotation.campaign_files import Opened, open_file, to_values
from annotation.campaign_files.storing import Wish, form_data
from annotation.campaigns import Invitation
from annotation.doors import sent_file
from annotation.filters.choice import quoted
from annotation.forms.campaign.editing import CHANGED, ChangedError, DraftForm
from annotation.forms.campaign.form import CampaignForm
from annotation.imports import background
from annotation.models import Annotator, Campaign, System, TestSet
from annotation.models.assignment import Counts, count_by_campaign
from annotation.uploads import InputFile, Report
from annotation.uploads.problems import Place, Problem
from annotation.web.parameters import SECRET, wants_secret
from core import languages
from core.messages import invalid_field, refusal_as_json
from core.text import pluralize
from metaeval.messages import message

# Fields of a request that are no settings.
OF_REQUEST = frozenset({"test_set", "preset", "dry_run"})


class CampaignSerializer(ListedRows, serializers.ModelSerializer[Campaign]):
    test_set: serializers.SlugRelatedField[TestSet] = serializers.SlugRelatedField(
        slug_field="slug", read_only=True
    )
    systems = serializers.SerializerMethodField()
    project = ProjectSlug(read_only=True, allow_null=True)
    n_assigned = serializers.IntegerField(read_only=True)
    n_completed = serializers.IntegerField(read_only=True)
    n_removed = serializers.IntegerField(
        read_only=True, help_text="Judgments that were removed with erased persons."
    )
    answers = serializers.DictField(
        allow_null=True,
        help_text="The campaign's own scales, errors, text and choices, as in a campaign file; "
        "null if it uses those of the protocol.",
    )

    sample = serializers.DictField(
        allow_null=True,
        help_text="The rule of the part of the test set that is judged, as in a campaign file; "
        "null for all of it.",
    )

    @extend_schema_field(SystemSerializer(many=True))
    def get_systems(self, campaign: Campaign) -> Any:
        """Return the judged systems; those of a list are described once for all campaigns."""
        described = getattr(campaign, "described", None)
        if described is None:
            described = SystemSerializer(campaign.systems.all(), many=True).data
        return described

    class Meta:
        model = Campaign
        fields = (
            "slug",
            "name",
            "public_title",
            "study",
            "project",
            "is_private",
            "test_set",
            "systems",
            "length_ratio",
            "sample",
            "shown_text",
            "question",
            "protocol",
            "answers",
            "systems_per_screen",
            "assignment_mode",
            "annotators_per_item",
            "speed_rule",
            "traps_per_annotator",
            "trap_ratio",
            "z_pool",
            "seed",
            "status",
            "origin",
            "opened_at",
            "closed_at",
            "n_assigned",
            "n_completed",
            "n_removed",
        )


# The columns of a list, of some 60.
LISTED = (
    "test_set__slug",
    "project__slug",
    *{each.name for each in Campaign._meta.concrete_fields} & {*CampaignSerializer.Meta.fields},
)


class LinkSerializer(serializers.Serializer[object]):
    """A new annotator and the personal link, which is shown only now."""

    id = serializers.IntegerField()
    annotator = serializers.CharField()
    link = serializers.CharField()


class MadeSerializer(CampaignSerializer):
    """A campaign that was just stored, with the links of its annotators."""

    links = LinkSerializer(many=True)
    problems = ProblemSerializer(many=True)

    class Meta(CampaignSerializer.Meta):
        fields = (*CampaignSerializer.Meta.fields, "links", "problems")  # type: ignore[assignment]


class TriedSerializer(serializers.Serializer[object]):
    """What a dry run would store."""

    slug = serializers.CharField()
    name = serializers.CharField()
    n_annotators = serializers.IntegerField()
    problems = ProblemSerializer(many=True)


class DraftSettingsSerializer(serializers.Serializer[object]):
    """Any settings of the page's form, by their names."""

    name = serializers.CharField(required=False, max_length=120)
    public_title = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=120,
        help_text="What annotators read instead of the name.",
    )
    study = serializers.SlugField(required=False, max_length=80)
    protocol = serializers.CharField(required=False)
    systems = serializers.ListField(child=serializers.CharField(), required=False)
    length_ratio = serializers.CharField(required=False)
    sample = serializers.DictField(
        required=False,
        allow_null=True,
        help_text="The part of the test set that is judged, as in a campaign file.",
    )
    annotators_per_item = serializers.IntegerField(required=False, min_value=1)
    assignment_mode = serializers.CharField(required=False)


class CampaignPartsSerializer(DraftSettingsSerializer):
    """A campaign in parts: a test set, and any settings of the page's form by their names.

    What is not given is as the preset proposes for this test set. Alternatively one file in a
    multipart form, as `GET /api/campaigns/{slug}/file/` returns it or of Pearmut.
    """

    test_set = serializers.SlugField()
    preset = serializers.CharField(required=False)
    dry_run = serializers.BooleanField(default=False)


class CampaignFileRequestSerializer(serializers.Serializer[object]):
    """A campaign in one file; a Pearmut file needs its languages."""

    file = serializers.FileField()
    media = serializers.ListField(child=serializers.FileField(), required=False)
    slug = serializers.SlugField(required=False, max_length=80)
    source_language = serializers.CharField(required=False)
    target_language = serializers.CharField(required=False)
    ends = serializers.ChoiceField(choices=["included", "excluded"], required=False)
    open = serializers.BooleanField(default=False)
    dry_run = serializers.BooleanField(default=False)

    def validate_source_language(self, text: str) -> str:
        """Return the code of a language."""
        try:
            return languages.find(text)
        except languages.LanguageError as error:
            raise serializers.ValidationError(error.message.text, error.message.code) from error

    validate_target_language = validate_source_language


class HasReadingRole(BasePermission):
    """Let reading roles read campaigns and run their own; `campaign_to_run` checks which."""

    def has_permission(self, request: Request, view: object) -> bool:
        """Check the role."""
        return is_researcher(request.user)


class OfCampaign(TakesParameters):
    """Addresses below one campaign."""

    permission_classes = (HasReadingRole,)

    def visible(self) -> QuerySet[Campaign]:
        """Return the campaigns that the user may read."""
        rows = Campaign.objects.filter(pk__in=visible_campaigns(self.request.user))
        return (
            rows.select_related("test_set", "project").prefetch_related("systems").order_by("slug")
        )

    def campaign_to_run(self, slug: str) -> Campaign:
        """Return a campaign to somebody who may run it."""
        campaign: Campaign = get_object_or_404(self.visible(), slug=slug)
        if not runs_campaign(self.request.user, campaign):
            raise PermissionDenied(NOT_YOUR_CAMPAIGN.text)
        return campaign


def links_of(request: Request, made: Iterable[Invitation]) -> list[dict[str, Any]]:
    """Return new annotators with their links, as programs get them."""
    return [
        {
            "id": each.annotator.pk,
            "annotator": each.annotator.label,
            "link": request.build_absolute_uri(reverse("personal-link", args=[each.token])),
        }
        for each in made
    ]


def _unknown(given: Iterable[str], others: frozenset[str] = frozenset()) -> list[Problem]:
    """Report names that are neither settings of a campaign nor `others` of the request."""
    report = Report()
    for name in sorted(set(given) - set(CampaignForm.base_fields) - others):
        text = message("campaign.no-setting", "There is no setting of this name.")
        report.error(text, Place(field=name))
    return report.problems


def conflict(error: ValidationError) -> Response:
    """Return the answer to a change that is not possible now."""
    return Response(refusal_as_json(error), status=status.HTTP_409_CONFLICT)


def add_progress(rows: Sequence[Campaign]) -> Sequence[Campaign]:
    """Count the assignments of campaigns, and what was removed."""
    people = Annotator.objects.filter(campaign__in=[row.pk for row in rows])
    counts = count_by_campaign(people)
    for row in rows:
        own = counts.get(row.pk, Counts())
        row.n_removed = own.removed  # type: ignore[attr-defined]
        row.n_assigned, row.n_completed = own.assigned, own.answered  # type: ignore[attr-defined]
    return rows


def add_systems(rows: Sequence[Campaign]) -> None:
    """Describe the systems of campaigns, each once, in two queries for all of them."""
    judged = Campaign.systems.through.objects.filter(campaign__in=[row.pk for row in rows])
    of: dict[int, list[int]] = {}
    for campaign, system in judged.values_list("campaign_id", "system_id"):
        of.setdefault(campaign, []).append(system)
    # A page has few test sets.
    described: dict[int, dict[int, dict[str, Any]]] = {}
    describe = SystemSerializer().to_representation
    systems = System.objects.filter(test_set__in={row.test_set_id for row in rows})
    columns = ("pk", "test_set_id", *SystemSerializer.Meta.fields)
    for each in systems.values_list(*columns, named=True):
        described.setdefault(each.test_set_id, {})[each.pk] = describe(each)
    for row in rows:
        own, known = {*of.get(row.pk, ())}, described.get(row.test_set_id, {})
        row.described = [data for pk, data in known.items() if pk in own]  # type: ignore[attr-defined]


@extend_schema(tags=["campaigns"])
class CampaignViewSet(OfCampaign, viewsets.ReadOnlyModelViewSet[Campaign]):
    """Campaigns that the user may read, with their settings and progress."""

    takes: ClassVar[Mapping[str, Texts]] = {
        "file": {
            SECRET: "`included` adds the secret of hidden draws, for those who run the campaign. "
            "With it the file gives the same items in the same orders; do not show it to "
            "annotators."
        }
    }
    serializer_class = CampaignSerializer
    lookup_field = "slug"
    queryset = Campaign.objects.all()

    def get_queryset(self) -> QuerySet[Campaign]:
        """Exclude campaigns that the user may not read."""
        return self.visible()

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page with the progress of its campaigns."""
        listed = queryset.prefetch_related(None).only(*LISTED)
        page: Any = super().paginate_queryset(listed)
        add_systems(page)
        return add_progress(page)

    def get_object(self) -> Campaign:
        """Return a campaign with its progress."""
        return add_progress([super().get_object()])[0]

    @extend_schema(responses=OpenApiTypes.OBJECT)
    @action(detail=True)
    def file(self, request: Request, slug: str, format: str | None = None) -> Response:
        """Download the campaign as one file without judgments, from which it can be imported."""
        campaign, with_secret = self.get_object(), wants_secret(request.query_params)
        if with_secret and not runs_campaign(request.user, campaign):
            raise PermissionDenied(NOT_YOUR_CAMPAIGN.text)
        return Response(to_values(campaign, with_secret=with_secret))

    @extend_schema(
        request={
            "application/json": CampaignPartsSerializer,
            "multipart/form-data": CampaignFileRequestSerializer,
        },
        responses={
            200: OpenApiResponse(TriedSerializer, "A dry run: nothing was stored."),
            201: MadeSerializer,
            202: BEGUN,
            413: OpenApiResponse(None, "The body is too large."),
        },
    )
    def create(self, request: Request, format: str | None = None) -> Response:
        """Store a campaign as a draft, from parts (JSON) or from a file (multipart form)."""
        if not is_admin(request.user):
            raise PermissionDenied
        if (refused := unless_too_large(request)) is not None:
            return refused
        if isinstance(request.data, QueryDict):
            return self._from_file(request)
        return self._from_parts(request)

    def _from_parts(self, request: Request) -> Response:
        given = dict(request.data) if isinstance(request.data, dict) else {}
        sent = CampaignPartsSerializer(data=given)
        sent.is_valid(raise_exception=True)
        rows = readable(TestSet.objects.all(), request.user, "pk")
        test_set = rows.filter(slug=sent.validated_data["test_set"]).first()
        if test_set is None:
            refused = message("campaign.no-test-set", "There is no test set “{slug}” that you can "
                              "read.", slug=quoted(given["test_set"]))  # fmt: skip
            raise invalid_field("test_set", refused)
        if unknown := _unknown(given, OF_REQUEST):
            return refusal("The request cannot be read.", unknown)
        settings = {n: v for n, v in given.items() if n not in OF_REQUEST - {"preset"}}
        form = CampaignForm(form_data(settings, test_set), test_set=test_set)
        if wrong := problems_of_forms(form.errors.as_data(), {}):
            return refusal("The request cannot be read.", wrong)
        try:
            with transaction.atomic():
                campaign = form.create(request.user)
                transaction.set_rollback(sent.validated_data["dry_run"])
        except ValidationError as error:
            by_field = ValidationError(error).update_error_dict({})
            return refusal("Nothing was stored.", problems_of_forms(by_field, {}))
        opened = Opened(campaign, ())
        return self._answer(request, opened, [], is_dry_run=sent.validated_data["dry_run"])

    def _from_file(self, request: Request) -> Response:
        form: Any = request.data
        data = {name: form.get(name) for name in form}
        data["media"] = request.FILES.getlist("media")
        sent = CampaignFileRequestSerializer(data=data)
        sent.is_valid(raise_exception=True)
        given, report = sent.validated_data, Report()
        wish = Wish(
            slug=given.get("slug", ""),
            source_language=given.get("source_language", ""),
            target_language=given.get("target_language", ""),
            is_draft=not given["open"],
            is_dry_run=given["dry_run"],
            ends=given.get("ends", ""),
            media=[InputFile.sent(file) for file in given["media"]],
        )
        file = InputFile.sent(given["file"])
        if background.is_large([file, *wish.media]):
            return begun(request, sent_file(file, wish), {"store": not wish.is_dry_run})
        opened = open_file(file, report, wish, user=request.user)
        if opened is None:
            n = pluralize(len(report.errors), "error")
            return refusal(f"{n}; nothing was stored.", report.problems)
        return self._answer(request, opened, report.problems, is_dry_run=wish.is_dry_run)

    def _answer(
        self, request: Request, made: Opened, problems: Sequence[Problem], *, is_dry_run: bool
    ) -> Response:
        campaign: Any = made.campaign
        campaign.problems = problems
        if is_dry_run:
            campaign.n_annotators = len(made.invitations)
            return Response(TriedSerializer(campaign).data)
        campaign.refresh_from_db()
        campaign.links = links_of(request, made.invitations)
        body = MadeSerializer(add_progress([campaign])[0]).data
        headers = {"Cache-Control": "no-store"}
        return Response(body, status=status.HTTP_201_CREATED, headers=headers)

    @extend_schema(
        request=DraftSettingsSerializer,
        responses={
            200: CampaignSerializer,
            409: OpenApiResponse(None, "It is no draft, or it was changed at the same moment."),
        },
    )
    def partial_update(self, request: Request, slug: str, format: str | None = None) -> Response:
        """Change settings of a draft; the others stay as they are."""
        campaign = self.campaign_to_run(slug)
        given: Any = request.data
        DraftSettingsSerializer(data=given).is_valid(raise_exception=True)
        if unknown := _unknown(given):
            return refusal("The request cannot be read.", unknown)
        try:
            campaigns.require_status(campaign, Campaign.Status.DRAFT)
            stored = DraftForm(campaign=campaign).initial
            form = DraftForm({**stored, **given}, campaign=campaign)
            if wrong := problems_of_forms(form.errors.as_data(), {}):
                return refusal("The request cannot be read.", wrong)
            campaign = form.change()
        except ChangedError:
            return conflict(ValidationError([CHANGED]))
        except ValidationError as error:
            if hasattr(error, "error_dict"):
                return refusal("Nothing was stored.", problems_of_forms(error.error_dict, {}))
            return conflict(error)
        return Response(CampaignSerializer(add_progress([campaign])[0]).data)

    @extend_schema(request=None, responses=CampaignSerializer)
    @action(detail=True, methods=["post"])
    def open(self, request: Request, slug: str, format: str | None = None) -> Response:
        """Open a draft, or a closed campaign again; 409 with the reasons if it cannot be opened."""
        campaign = self.campaign_to_run(slug)
        is_draft = campaign.status == Campaign.Status.DRAFT
        verb = campaigns.open_campaign if is_draft else campaigns.reopen_campaign
        return self._changed(campaign, verb)

    @extend_schema(request=None, responses=CampaignSerializer)
    @action(detail=True, methods=["post"])
    def close(self, request: Request, slug: str, format: str | None = None) -> Response:
        """Stop taking judgments; 409 unless the campaign is open."""
        return self._changed(self.campaign_to_run(slug), campaigns.close_campaign)

    def _changed(self, campaign: Campaign, verb: Callable[..., Any]) -> Response:
        try:
            verb(campaign=campaign)
        except ValidationError as error:
            return conflict(error)
        campaign.refresh_from_db()
        return Response(CampaignSerializer(add_progress([campaign])[0]).data)
