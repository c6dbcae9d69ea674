"""The people of a campaign for programs: annotators and their links, access links, members.

Notices of the campaign, by e-mail and webhook, are listed too.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import Count, QuerySet
from django.forms import Form
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_field,
)
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.decorators import action
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import runs_campaign
from annotation.api.campaigns import LinkSerializer, OfCampaign, conflict, links_of
from annotation.api.imports import problems_of_forms, refusal
from annotation.campaigns import add_annotators, people
from annotation.entry import links, places
from annotation.forms.access import AccessLinkForm, MemberForm, PeopleForm, RenewForm
from annotation.models import (
    AccessLink,
    Annotator,
    Assignment,
    Campaign,
    Membership,
    Notification,
)
from annotation.quality.exclusions import exclude_annotator, include_annotator, reassign_items
from annotation.web.password import require_recent
from core.messages import as_json, invalid_field
from metaeval.messages import Message, message

NO_STORE = {"Cache-Control": "no-store"}
OF_SLUG = OpenApiParameter(
    "slug", str, OpenApiParameter.PATH, description="The short name of a campaign."
)


class PersonSerializer(serializers.ModelSerializer[Annotator]):
    """An annotator, and how many of the assigned items have a rating."""

    annotator = serializers.CharField(source="label")
    n_assigned = serializers.IntegerField(read_only=True)
    n_completed = serializers.IntegerField(read_only=True)
    is_excluded = serializers.SerializerMethodField()
    has_link = serializers.SerializerMethodField()

    class Meta:
        model = Annotator
        fields = ("id", "annotator", "n_assigned", "n_completed", "is_excluded", "is_simulated",
                  "has_link", "stopped_at", "created_at")  # fmt: skip

    def get_is_excluded(self, annotator: Annotator) -> bool:
        """Return whether the annotator is excluded from analyses."""
        return annotator.excluded_at is not None

    def get_has_link(self, annotator: Annotator) -> bool:
        """Return whether a personal link works now."""
        expires = annotator.token_expires_at
        return annotator.token_hash is not None and (expires is None or expires > timezone.now())


class PeopleRequestSerializer(serializers.Serializer[object]):
    """Annotators to add: `count` new ones with personal links, and accounts by user name."""

    count = serializers.IntegerField(required=False, min_value=0)
    expires_at = serializers.DateField(
        required=False, allow_null=True, help_text="the last day of the links, UTC"
    )
    addresses = serializers.ListField(
        child=serializers.EmailField(), required=False, help_text="of the first new annotators"
    )
    users = serializers.ListField(child=serializers.CharField(max_length=150), required=False)


class AddedSerializer(serializers.Serializer[object]):
    """The personal links of new annotators, which are shown only now."""

    links = LinkSerializer(many=True)


class ReasonSerializer(serializers.Serializer[object]):
    """Why an annotator is excluded or included."""

    reason = serializers.CharField(max_length=2_000)


class ReassignedSerializer(serializers.Serializer[object]):
    """How many screens other annotators got, and how many all others have seen already."""

    given = serializers.IntegerField()
    left = serializers.IntegerField()


class RenewSerializer(serializers.Serializer[object]):
    """The last day of a new link."""

    expires_at = serializers.DateField(required=False, allow_null=True)


class _PeopleViewSet(OfCampaign, mixins.ListModelMixin, viewsets.GenericViewSet[Any]):
    """Rows of the campaign that the address names; its admins change them."""

    lookup_value_regex = "[0-9]{1,18}"

    @property
    def campaign(self) -> Campaign:
        """The campaign, which the user may read."""
        found: Campaign = get_object_or_404(self.visible(), slug=self.kwargs["slug"])
        return found

    def to_run(self) -> Campaign:
        """Return the campaign to somebody who may run it."""
        return self.campaign_to_run(self.kwargs["slug"])


def _form_data(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def actor_of(request: Request) -> User:
    """Return the account of a request whose permissions were checked."""
    actor: Any = request.user
    found: User = actor
    return found


def _wrong(form: Form) -> Response | None:
    wrong = problems_of_forms(form.errors.as_data(), {})
    return refusal("The request cannot be read.", wrong) if wrong else None


@extend_schema(tags=["people"], parameters=[OF_SLUG])
class PersonViewSet(_PeopleViewSet):
    """Annotators of a campaign with their progress, in the order they were added."""

    serializer_class = PersonSerializer
    queryset = Annotator.objects.all()

    def get_queryset(self) -> QuerySet[Annotator]:
        """Return the annotators of the campaign."""
        return self.campaign.annotators.order_by("pk")

    def paginate_queryset(self, queryset: Any) -> Any:
        """Return a page with the progress of its annotators."""
        page: Any = super().paginate_queryset(queryset)
        return _add_progress(page)

    @extend_schema(
        request=PeopleRequestSerializer,
        responses={201: AddedSerializer, 409: OpenApiResponse(None, "None can be added now.")},
    )
    def create(self, request: Request, slug: str, format: str | None = None) -> Response:
        """Add annotators, and return the personal links of new ones."""
        campaign = self.to_run()
        sent = PeopleRequestSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        given: dict[str, Any] = dict(sent.validated_data)
        names = set(given.pop("users", ()))
        users = User.objects.filter(username__in=names)
        if missing := sorted(names - set(users.values_list("username", flat=True))):
            unknown = message("api.no-account", "There is no account “{name}”.", name=missing[0])
            raise invalid_field("users", unknown)
        given["addresses"] = "\n".join(given.get("addresses", ()))
        data = _form_data(given) | {"users": [user.pk for user in users]}
        form = PeopleForm(data, campaign=campaign)
        if (refused := _wrong(form)) is not None:
            return refused
        try:
            made = _add(campaign, **form.cleaned_data)
        except ValidationError as error:
            return conflict(error)
        body = AddedSerializer({"links": links_of(request, made)}).data
        return Response(body, status=status.HTTP_201_CREATED, headers=NO_STORE)

    @extend_schema(request=ReasonSerializer, responses=PersonSerializer)
    @action(detail=True, methods=["post"])
    def exclude(self, request: Request, slug: str, pk: str, format: str | None = None) -> Response:
        """Exclude an annotator from all analyses; 409 if that is already so."""
        return self._decide(request, exclude_annotator)

    @extend_schema(request=ReasonSerializer, responses=PersonSerializer)
    @action(detail=True, methods=["post"])
    def include(self, request: Request, slug: str, pk: str, format: str | None = None) -> Response:
        """Include an excluded annotator again; 409 if that is already so."""
        return self._decide(request, include_annotator)

    def _decide(self, request: Request, decision: Callable[..., Any]) -> Response:
        person = self._person()
        sent = ReasonSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        try:
            decision(annotator=person, actor=request.user, reason=sent.validated_data["reason"])
        except ValidationError as error:
            return conflict(error)
        person.refresh_from_db()
        return Response(PersonSerializer(_add_progress([person])[0]).data)

    @extend_schema(request=None, responses=ReassignedSerializer)
    @action(detail=True, methods=["post"])
    def reassign(self, request: Request, slug: str, pk: str, format: str | None = None) -> Response:
        """Give the items of an excluded annotator to others; 409 if the annotator is included."""
        person, actor = self._person(), actor_of(request)
        try:
            done = reassign_items(annotator=person, actor=actor)
        except ValidationError as error:
            return conflict(error)
        return Response(ReassignedSerializer(done).data)

    @extend_schema(request=RenewSerializer, responses=LinkSerializer)
    @action(detail=True, methods=["post"])
    def renew(self, request: Request, slug: str, pk: str, format: str | None = None) -> Response:
        """Replace the personal link of an annotator; the old one no longer works."""
        person = self._person()
        sent = RenewSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        form = RenewForm(_form_data(sent.validated_data))
        if (refused := _wrong(form)) is not None:
            return refused
        try:
            made = places.replace(annotator=person, expires_at=form.cleaned_data["expires_at"])
        except ValidationError as error:
            return conflict(error)
        return Response(links_of(request, [made])[0], headers=NO_STORE)

    @extend_schema(request=None, responses=PersonSerializer)
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, slug: str, pk: str, format: str | None = None) -> Response:
        """Revoke the personal link of an annotator; ratings stay."""
        person = self._person()
        places.revoke(annotator=person)
        return Response(PersonSerializer(_add_progress([person])[0]).data)

    def _person(self) -> Annotator:
        rows = Annotator.objects.select_related("user").filter(campaign=self.to_run())
        found: Annotator = get_object_or_404(rows, pk=self.kwargs["pk"])
        return found


@transaction.atomic
def _add(
    campaign: Campaign, users: QuerySet[User], count: int | None, expires_at: Any, addresses: Any
) -> list[people.Invitation]:
    if users:
        add_annotators(campaign=campaign, users=users)
    if not count:
        return []
    made = places.invite(campaign=campaign, count=count, expires_at=expires_at)
    new = [each.annotator for each in made]
    places.set_addresses(campaign, dict(zip(new, addresses, strict=False)))
    return made


def _add_progress(rows: Sequence[Annotator]) -> Sequence[Annotator]:
    found = Assignment.objects.filter(annotator__in=rows).order_by()
    counted = found.values_list("annotator").annotate(Count("pk"), Count("completed_at"))
    counts = {pk: own for pk, *own in counted}
    for row in rows:
        row.n_assigned, row.n_completed = counts.get(row.pk, (0, 0))  # type: ignore[attr-defined]
    return rows


class AccessLinkSerializer(serializers.ModelSerializer[AccessLink]):
    """A link for many annotators, and how many entered by it."""

    n_entered = serializers.IntegerField(read_only=True, default=0)

    class Meta:
        model = AccessLink
        fields = ("id", "provider", "quota", "completion_code", "expires_at", "revoked_at",
                  "created_at", "n_entered")  # fmt: skip
        read_only_fields = ("revoked_at",)


class AccessLinkRequestSerializer(serializers.Serializer[object]):
    """A link for many annotators, as on the page."""

    provider = serializers.ChoiceField(choices=AccessLink.Provider.choices)
    quota = serializers.IntegerField(required=False, min_value=0, help_text="0: no limit")
    completion_code = serializers.CharField(required=False, allow_blank=True, max_length=80)
    expires_at = serializers.DateField(required=False, allow_null=True)


class MadeAccessLinkSerializer(AccessLinkSerializer):
    """A new link with its address, which is shown only now."""

    link = serializers.CharField()

    class Meta(AccessLinkSerializer.Meta):
        fields = (*AccessLinkSerializer.Meta.fields, "link")  # type: ignore[assignment]


@extend_schema(tags=["people"], parameters=[OF_SLUG])
class AccessLinkViewSet(_PeopleViewSet):
    """Links by which many annotators enter a campaign, oldest first."""

    serializer_class = AccessLinkSerializer
    queryset = AccessLink.objects.all()

    def get_queryset(self) -> QuerySet[AccessLink]:
        """Return the links of the campaign; completion codes only to those who run it."""
        rows = self.campaign.access_links.annotate(n_entered=Count("annotators")).order_by("pk")
        return rows if runs_campaign(self.request.user, self.campaign) else rows.none()

    @extend_schema(request=AccessLinkRequestSerializer, responses={201: MadeAccessLinkSerializer})
    def create(self, request: Request, slug: str, format: str | None = None) -> Response:
        """Make a link."""
        campaign, actor = self.to_run(), actor_of(request)
        sent = AccessLinkRequestSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        form = AccessLinkForm(_form_data(sent.validated_data))
        if (refused := _wrong(form)) is not None:
            return refused
        made, token = links.create_link(campaign=campaign, actor=actor, **form.cleaned_data)
        address = request.build_absolute_uri(reverse("access-link", args=[token]))
        body = {**AccessLinkSerializer(made).data, "link": address}
        return Response(body, status=status.HTTP_201_CREATED, headers=NO_STORE)

    @extend_schema(request=None, responses=AccessLinkSerializer)
    @action(detail=True, methods=["post"])
    def revoke(self, request: Request, slug: str, pk: str, format: str | None = None) -> Response:
        """Revoke a link, so that it admits nobody else."""
        campaign, actor = self.to_run(), actor_of(request)
        rows = AccessLink.objects.select_related("campaign").filter(campaign=campaign)
        found = get_object_or_404(rows, pk=pk)
        links.revoke_link(link=found, actor=actor)
        return Response(AccessLinkSerializer(self.get_queryset().get(pk=found.pk)).data)


class MemberSerializer(serializers.ModelSerializer[Membership]):
    """An account and its role in the campaign."""

    username = serializers.CharField(source="user.username", max_length=150)

    class Meta:
        model = Membership
        fields = ("id", "username", "role")


@extend_schema(tags=["people"], parameters=[OF_SLUG])
class MemberViewSet(_PeopleViewSet):
    """Accounts with a role in a campaign."""

    serializer_class = MemberSerializer
    queryset = Membership.objects.all()

    def get_queryset(self) -> QuerySet[Membership]:
        """Return the members of the campaign."""
        return self.campaign.memberships.select_related("user").order_by("user__username")

    @extend_schema(request=MemberSerializer, responses={201: MemberSerializer})
    def create(self, request: Request, slug: str, format: str | None = None) -> Response:
        """Give an account a role in the campaign."""
        campaign, actor = self.to_run(), actor_of(request)
        require_recent(request)
        sent = MemberSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        given = {"username": sent.validated_data["user"]["username"]}
        form = MemberForm(given | {"role": sent.validated_data.get("role", "researcher")})
        if (refused := _wrong(form)) is not None:
            return refused
        try:
            made = people.set_member(campaign=campaign, actor=actor, **form.cleaned_data)
        except ValidationError as error:
            return conflict(error)
        return Response(MemberSerializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, slug: str, pk: str, format: str | None = None) -> Response:
        """Remove an account's role in the campaign."""
        campaign, actor = self.to_run(), actor_of(request)
        require_recent(request)
        rows = Membership.objects.select_related("user", "campaign").filter(campaign=campaign)
        people.remove_member(member=get_object_or_404(rows, pk=pk), actor=actor)
        return Response(status=status.HTTP_204_NO_CONTENT)


class NoticeSerializer(serializers.ModelSerializer[Notification]):
    """A notice, how often it was tried, and the last reason why it was not delivered.

    `event` is `complete`, `closed` or `stopped`; e-mails have none.
    """

    event = serializers.SerializerMethodField()
    message = serializers.SerializerMethodField()

    class Meta:
        model = Notification
        fields = ("id", "channel", "event", "subject", "status", "attempts", "message")

    def get_event(self, notice: Notification) -> str | None:
        """Return what a webhook reports."""
        if notice.channel != Notification.Channel.WEBHOOK:
            return None
        event: str = json.loads(notice.body)["event"]
        return event

    @extend_schema_field({"type": ["object", "null"]})
    def get_message(self, notice: Notification) -> Any:
        """Return the reason as a message."""
        return as_json(notice.message) if isinstance(notice.message, Message) else None


@extend_schema(tags=["campaigns"], parameters=[OF_SLUG])
class NoticeViewSet(_PeopleViewSet):
    """E-mails and webhooks about a campaign, newest first, for those who run it."""

    serializer_class = NoticeSerializer
    queryset = Notification.objects.all()

    def get_queryset(self) -> QuerySet[Notification]:
        """Return the notices of the campaign."""
        return self.to_run().notifications.order_by("-pk")
