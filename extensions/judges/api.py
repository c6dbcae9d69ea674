"""Templates of judges in the API: researchers read, site admins add versions."""

from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status, viewsets
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.api.parameters import TakesParameters
from annotation.models import ApiToken
from core.messages import invalid_field
from extensions.judges import templates
from extensions.judges.prompts import Template
from metaeval.messages import DataError
from metrics.api.fleet import MayConfigure
from metrics.models import JudgeTemplate


class ExampleSerializer(serializers.Serializer[Any]):
    """An earlier question and its answer."""

    user = serializers.CharField()
    assistant = serializers.CharField()


class TemplateSerializer(serializers.Serializer[Any]):
    """A version of a template, as its file says; `kind` is the format of replies."""

    name = serializers.CharField()
    version = serializers.IntegerField(read_only=True)
    kind = serializers.CharField()
    system = serializers.CharField(required=False)
    user = serializers.CharField()
    classes = serializers.ListField(child=serializers.CharField(), required=False)
    examples = ExampleSerializer(many=True, required=False)
    second = serializers.CharField(required=False)


@extend_schema(tags=["metrics"])
class TemplateViewSet(TakesParameters, viewsets.GenericViewSet[Any]):
    """Every version of every template, the newest of each first."""

    scope: ClassVar[str] = ApiToken.Scope.SITE
    permission_classes = (MayConfigure,)
    serializer_class = TemplateSerializer
    queryset = JudgeTemplate.objects.none()

    @extend_schema(responses={200: TemplateSerializer(many=True)})
    def list(self, request: Request, format: str | None = None) -> Response:
        """List them."""
        page = self.paginate_queryset([*templates.all_templates().values()])
        return self.get_paginated_response([_shown(each) for each in page or ()])

    @extend_schema(request=TemplateSerializer, responses={201: TemplateSerializer})
    def create(self, request: Request, format: str | None = None) -> Response:
        """Store the content of a template's file, the first or a further version."""
        try:
            sent = templates.given(request.data, "JSON")
            stored = templates.add(**sent, by=request.user)
        except DataError as error:
            raise invalid_field("template", error.message) from error
        except ValidationError as error:
            raise serializers.ValidationError(serializers.as_serializer_error(error)) from error
        return Response(_shown(stored), status=status.HTTP_201_CREATED)


def _shown(template: Template) -> dict[str, Any]:
    turns = [{"user": user, "assistant": answer} for user, answer in template.examples]
    return vars(template) | {"classes": list(template.classes), "examples": turns}
