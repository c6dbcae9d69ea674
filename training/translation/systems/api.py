"""Translations for programs: ask for them, look first, watch, cancel, go on."""

from collections.abc import Mapping
from typing import Any, ClassVar

from drf_spectacular.utils import extend_schema
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from annotation.access import not_blinded
from annotation.api.parameters import Texts
from annotation.filters import FilterError
from annotation.models import TestSet
from training.api import WorkViewSet
from training.models import Translation
from training.translation.systems import starting
from training.translation.systems.forms import TranslateForm


class TranslationSerializer(serializers.ModelSerializer[Translation]):
    """A translation of a test set to one wanted length, and the system that came of it."""

    test_set = serializers.CharField(source="test_set.slug")
    share = serializers.DecimalField(max_digits=6, decimal_places=3)
    system = serializers.SerializerMethodField()

    class Meta:
        model = Translation
        fields = ("id", "test_set", "name", "share", "model", "job", "request", "status",
                  "progress", "result", "message", "system", "created_at",
                  "finished_at")  # fmt: skip

    def get_system(self, row: Translation) -> str | None:
        """The label of the system, once it is stored."""
        return row.label if row.system_id else None


class TranslationStartSerializer(serializers.Serializer[object]):
    """What the page asks: a test set, a model, the name of the systems and their length ratios."""

    test_set = serializers.SlugField()
    model = serializers.CharField(help_text="Number of a training, hub name, or directory.")
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
    """What was asked for, one of each length ratio."""

    translations = TranslationSerializer(many=True)


class TranslationPlanSerializer(serializers.Serializer[object]):
    """What would be done."""

    systems = serializers.ListField(child=serializers.CharField())
    n_segments = serializers.IntegerField()
    warnings = serializers.ListField(child=serializers.CharField())


@extend_schema(tags=["training"])
class TranslationViewSet(WorkViewSet[Translation]):
    """Translations, newest first; `?test_set=slug` for those of one test set."""

    takes: ClassVar[Mapping[str, Texts]] = {"list": {"test_set": "The slug of a test set."}}
    serializer_class = TranslationSerializer
    queryset = Translation.objects.select_related("test_set", "system", "job")

    def end(self, row: Translation) -> bool:
        """Cancel a translation."""
        return starting.cancel(row)

    def go_on(self, row: Translation) -> None:
        """Go on with a translation."""
        starting.resume(row)

    def get_queryset(self) -> Any:
        """Filter by test set."""
        slug = self.request.query_params.get("test_set")
        rows = not_blinded(super().get_queryset(), self.request.user)
        if slug and not TestSet.objects.filter(slug=slug).exists():
            raise FilterError(f"test_set: there is no test set {slug!r}")
        return rows.filter(test_set__slug=slug) if slug else rows

    @extend_schema(
        request=TranslationStartSerializer,
        responses={200: TranslationPlanSerializer, 201: TranslationsSerializer},
    )
    def create(self, request: Request, format: str | None = None) -> Response:
        """Translate to every ratio; with `dry_run` say what would come of it."""
        sent = TranslationStartSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        form = TranslateForm(request.user, sent.validated_data)
        if not form.is_valid() or form.plan is None:
            wrong = {name: [str(each) for each in said] for name, said in form.errors.items()}
            raise serializers.ValidationError(wrong)
        if sent.validated_data["dry_run"]:
            plan = form.plan
            found = {"systems": plan.labels, "n_segments": plan.n_segments}
            return Response(found | {"warnings": plan.warnings})
        rows = starting.start(form.plan, user=request.user, queue=form.cleaned_data["queue"])
        made = self.get_serializer(rows, many=True).data
        return Response({"translations": made}, status=status.HTTP_201_CREATED)
