"""The same services for programs: look at a resource, rename, copy, archive, restore, delete it."""

from typing import Any

from django.core.exceptions import PermissionDenied, ValidationError
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from lifecycle import services
from lifecycle.resources import RESOURCE_TYPES
from lifecycle.views import NOT_YOURS, VERBS, Found, find
from metrics.api.runs import MayRun


class ThingSerializer(serializers.Serializer[object]):
    """A thing: what may be done with it, what would go, and why it cannot be deleted now."""

    kind = serializers.ChoiceField(choices=list(RESOURCE_TYPES))
    key = serializers.CharField()
    name = serializers.CharField()
    is_archived = serializers.BooleanField()
    may = serializers.DictField(child=serializers.BooleanField())
    goes = serializers.DictField(child=serializers.IntegerField())
    stays = serializers.CharField()
    keeps = serializers.CharField()
    seen = serializers.CharField(help_text="Send it with DELETE: what was looked at.")


class DeleteSerializer(serializers.Serializer[object]):
    """`seen` as the thing said; its name `typed` where judgments would go."""

    seen = serializers.CharField(write_only=True)
    typed = serializers.CharField(required=False, default="", write_only=True)
    reason = serializers.CharField(required=False, default="", write_only=True)


class DeedSerializer(serializers.Serializer[object]):
    """The new name, for `rename`; the study, for `study`, where an empty one takes out of any."""

    name = serializers.CharField(required=False, default="", write_only=True)
    study = serializers.CharField(
        required=False, default="", write_only=True, allow_blank=True, max_length=80
    )


class ResourceView(APIView):
    """One thing of any kind, by its kind and key."""

    permission_classes = (MayRun,)

    @extend_schema(tags=["things"], responses=ThingSerializer)
    def get(self, request: Request, kind: str, which: str) -> Response:
        """Say what the thing is, what may be done with it, and what would go with it."""
        return Response(described(find(request.user, kind, which)))

    @extend_schema(tags=["things"], request=DeleteSerializer, responses={204: None, 409: None})
    def delete(self, request: Request, kind: str, which: str) -> Response:
        """Delete it; 409 with the reason where it cannot be."""
        found = _allowed(find(request.user, kind, which), "delete")
        sent = DeleteSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        try:
            services.delete(found.kind, found.resource, found.user, **sent.validated_data)
        except ValidationError as error:
            return Response({"error": " ".join(error.messages)}, status=409)
        return Response(status=204)


class ActionView(APIView):
    """What can be undone."""

    permission_classes = (MayRun,)

    @extend_schema(
        tags=["things"], request=DeedSerializer, responses={200: ThingSerializer, 409: None}
    )
    def post(self, request: Request, kind: str, which: str, verb: str) -> Response:
        """`rename`, `study`, `copy`, `archive` or `restore`; answers with the thing or the copy."""
        found = _allowed(find(request.user, kind, which), verb)
        sent = DeedSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        try:
            made = _do(found, verb, **sent.validated_data)
        except ValidationError as error:
            return Response({"error": " ".join(error.messages)}, status=409)
        return Response(described(made))


def _allowed(found: Found, verb: str) -> Found:
    if verb not in VERBS and verb != "delete":
        raise serializers.ValidationError({"verb": f"There are {', '.join(VERBS)}."})
    if not found.allowed[verb]:
        raise PermissionDenied(NOT_YOURS)
    return found


def _do(found: Found, verb: str, *, name: str, study: str) -> Found:
    kind, resource, user = found.kind, found.resource, found.user
    if verb == "copy":
        return Found(kind, services.copy(kind, resource, user), user)
    if verb == "rename":
        services.rename(kind, resource, user, name)
    elif verb == "study":
        services.move(kind, resource, user, study)
    elif verb == "archive":
        services.archive(kind, resource, user)
    else:
        services.restore(kind, resource, user)
    resource.refresh_from_db()
    return found


def described(found: Found) -> dict[str, Any]:
    """Return a thing as the API tells it."""
    kind, resource = found.kind, found.resource
    return {
        "kind": kind.name,
        "key": str(getattr(resource, kind.key)),
        "name": found.name,
        "is_archived": kind.is_archived(resource),
        "may": found.may,
        "goes": {what: n for what, n in kind.going(resource) if n},
        "stays": kind.staying(resource),
        "keeps": kind.keeps(resource),
        "seen": services.digest(kind, resource),
    }
