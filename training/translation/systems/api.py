"""The API of translations: preview, start, show, cancel, resume."""

from collections.abc import Mapping
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import readable, visible_test_sets
from annotation.api.parameters import Texts
from annotation.filters import FilterError
from annotation.filters.choice import quoted
from core.messages import as_json
from metaeval.messages import message
from training.api import MessageSerializer, WorkViewSet
from training.models import Translation
from training.translation.systems import starting
from training.translation.systems.forms import TranslateForm


class TranslationSerializer(serializers.ModelSerializer[Translation]):
    """A translation of a test set to one target length, and the system that it made."""

    test_set = serializers.CharField(source="test_set.slug")
    share = serializers.DecimalField(max_digits=6, decimal_places=3)
    system = serializers.SerializerMethodField()
    message = MessageSerializer(read_only=True)

    class Meta:
        model = Translation
        fields = ("id", "test_set", "name", "share", "model", "job", "request", "status",
                  "queue", "progress", "result", "message", "system", "created_at",
                  "finished_at")  # fmt: skip

    def get_system(self, row: Translation) -> str | None:
        """Return the name of the system, once it is stored."""
        return row.label if row.system_id else None


class TranslationStartSerializer(serializers.Serializer[object]):
    """A test set, a model, the name of the systems and their length ratios."""

    test_set = serializers.SlugField()
    model = serializers.CharField(
        help_text="The number of a training, a name on the Hugging Face hub, or a folder."
    )
    name = serializers.CharField()
    ratios = serializers.CharField(default="1", help_text="0.8, 0.5 or 80%, 50%")
    of = serializers.CharField(required=False)
    method = serializers.CharField(default="auto")
    unit = serializers.CharField(default="pieces")
    beam = serializers.IntegerField(default=4)
    metric = serializers.CharField(required=False)
    language_model = serializers.CharField(required=False)
    queue = serializers.CharField(default="gpu")
    dry_run = serializers.BooleanField(default=False)


class TranslationsSerializer(serializers.Serializer[object]):
    """The started translations, one per length ratio."""

    translations = TranslationSerializer(many=True)


class TranslationPlanSerializer(serializers.Serializer[object]):
    """What would be translated; `warnings` are messages."""

    systems = serializers.ListField(child=serializers.CharField())
    n_segments = serializers.IntegerField()
    warnings = serializers.ListField(child=serializers.DictField())


@extend_schema(tags=["training"])
class TranslationViewSet(WorkViewSet[Translation]):
    """Translations, newest first; `?test_set=slug` selects those of one test set."""

    takes: ClassVar[Mapping[str, Texts]] = {"list": {"test_set": "The short name of a test set."}}
    serializer_class = TranslationSerializer
    queryset = Translation.objects.select_related("test_set", "system", "job")

    def end(self, row: Translation) -> bool:
        """Cancel a translation."""
        return starting.cancel(row)

    def continue_row(self, row: Translation) -> None:
        """Resume a translation."""
        starting.resume(row)

    def get_queryset(self) -> Any:
        """Filter by test set."""
        slug = self.request.query_params.get("test_set")
        rows = readable(super().get_queryset(), self.request.user)
        if slug and not visible_test_sets(self.request.user).filter(slug=slug).exists():
            raise FilterError(
                message(
                    "translations.no-test-set", "There is no test set “{slug}”.", slug=quoted(slug)
                )
            )
        return rows.filter(test_set__slug=slug) if slug else rows

    @extend_schema(
        request=TranslationStartSerializer,
        responses={200: TranslationPlanSerializer, 201: TranslationsSerializer},
    )
    def create(self, request: Request, format: str | None = None) -> Response:
        """Translate to every ratio; with `dry_run` only report what would be translated."""
        sent = TranslationStartSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        form = TranslateForm(request.user, sent.validated_data)
        if not form.is_valid() or form.plan is None:
            errors = {name: list(map(str, found)) for name, found in form.errors.items()}
            raise serializers.ValidationError(errors)
        if sent.validated_data["dry_run"]:
            plan = form.plan
            found = {"systems": plan.labels, "n_segments": plan.n_segments}
            return Response(found | {"warnings": [as_json(each) for each in plan.warnings]})
        rows = starting.start(form.plan, user=request.user, queue=form.cleaned_data["queue"])
        made = self.get_serializer(rows, many=True).data
        return Response({"translations": made}, status=status.HTTP_201_CREATED)
