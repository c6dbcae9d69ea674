"""The API of resources: show, rename, copy, archive, restore, delete."""

from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.parameters import TakesParameters
from annotation.web.password import require_recent
from core.messages import as_json, invalid_field, refusal_as_json
from lifecycle import services
from lifecycle.resources import RESOURCE_TYPES
from lifecycle.views import NOT_YOURS, VERBS, Found, find
from metaeval.messages import Message, message
from metrics.api.runs import MayRun


class ThingSerializer(serializers.Serializer[object]):
    """A resource, what may be done with it, and what would be deleted.

    `stays` and `keeps` are messages or null: what stays, and why it cannot be deleted now.
    """

    kind = serializers.ChoiceField(choices=list(RESOURCE_TYPES))
    key = serializers.CharField()
    name = serializers.CharField()
    is_archived = serializers.BooleanField()
    may = serializers.DictField(child=serializers.BooleanField())
    goes = serializers.DictField(child=serializers.IntegerField())
    stays = serializers.DictField(allow_null=True)
    keeps = serializers.DictField(allow_null=True)
    seen = serializers.CharField(help_text="A hash of this preview. Send it with DELETE.")


class DeleteSerializer(serializers.Serializer[object]):
    """`seen` from the preview, and the name as `typed` if judgments would be deleted."""

    seen = serializers.CharField(write_only=True)
    typed = serializers.CharField(required=False, default="", write_only=True)
    reason = serializers.CharField(required=False, default="", write_only=True)


class ActionSerializer(serializers.Serializer[object]):
    """`name` for `rename`, `study` for `study`, `title` for `title`, both others for `project`.

    An empty study or project takes a resource out of it. With an empty title annotators read the
    name. A private test set or campaign is read by members alone.
    """

    name = serializers.CharField(required=False, default="", write_only=True)
    study = serializers.CharField(
        required=False, default="", write_only=True, allow_blank=True, max_length=80
    )
    title = serializers.CharField(
        required=False, default="", write_only=True, allow_blank=True, max_length=120
    )
    project = serializers.SlugField(
        required=False, default="", write_only=True, allow_blank=True, max_length=80
    )
    private = serializers.BooleanField(required=False, default=True, write_only=True)


class ResourceView(TakesParameters):
    """One resource, by its type and key."""

    permission_classes = (MayRun,)

    @extend_schema(tags=["things"], responses=ThingSerializer)
    def get(self, request: Request, kind: str, which: str) -> Response:
        """Return a resource, the allowed actions, and what would be deleted with it."""
        return Response(described(find(request.user, kind, which)))

    @extend_schema(tags=["things"], request=DeleteSerializer, responses={204: None, 409: None})
    def delete(self, request: Request, kind: str, which: str) -> Response:
        """Delete a resource; 409 with the reasons if it cannot be deleted."""
        found = _allowed(find(request.user, kind, which), "delete")
        require_recent(request)
        sent = DeleteSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        try:
            services.delete(found.kind, found.resource, found.user, **sent.validated_data)
        except ValidationError as error:
            return Response(refusal_as_json(error), status=409)
        return Response(status=204)


class ActionView(TakesParameters):
    """Actions that can be undone."""

    permission_classes = (MayRun,)

    @extend_schema(
        tags=["things"], request=ActionSerializer, responses={200: ThingSerializer, 409: None}
    )
    def post(self, request: Request, kind: str, which: str, verb: str) -> Response:
        """Rename, copy, archive or restore a resource, or change its study, title or project.

        `verb` is `rename`, `study`, `title`, `project`, `copy`, `archive` or `restore`. Returns
        the resource, or the copy.
        """
        found = _allowed(find(request.user, kind, which), verb)
        sent = ActionSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        try:
            made = _do(found, verb, **sent.validated_data)
        except ValidationError as error:
            return Response(refusal_as_json(error), status=409)
        return Response(described(made))


def _allowed(found: Found, verb: str) -> Found:
    if verb not in VERBS and verb != "delete":
        refused = message("api.verb", "Must be one of {verbs}.", verbs=list(VERBS))
        raise invalid_field("verb", refused)
    if not found.allowed[verb]:
        raise PermissionDenied(NOT_YOURS.text)
    return found


def _do(
    found: Found, verb: str, *, name: str, study: str, title: str, project: str, private: bool
) -> Found:
    kind, resource, user = found.kind, found.resource, found.user
    if verb == "copy":
        return Found(kind, services.copy(kind, resource, user), user)
    if verb == "rename":
        services.rename(kind, resource, user, name)
    elif verb == "study":
        services.move(kind, resource, user, study)
    elif verb == "title":
        services.retitle(kind, resource, user, title)
    elif verb == "project":
        services.put(kind, resource, user, project, is_private=private)
    elif verb == "archive":
        services.archive(kind, resource, user)
    else:
        services.restore(kind, resource, user)
    resource.refresh_from_db()
    return found


def described(found: Found) -> dict[str, Any]:
    """Return a resource as the API shows it."""
    kind, resource = found.kind, found.resource
    return {
        "kind": kind.name,
        "key": str(getattr(resource, kind.key)),
        "name": found.name,
        "is_archived": kind.is_archived(resource),
        "may": found.may,
        "goes": {what: n for what, n in kind.going(resource) if n},
        "stays": _message(kind.staying(resource)),
        "keeps": _message(kind.blocks_deletion(resource)),
        "seen": services.digest(kind, resource),
    }


def _message(value: Message | None) -> dict[str, Any] | None:
    return None if value is None else as_json(value)
