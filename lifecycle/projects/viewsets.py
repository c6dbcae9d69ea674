"""Projects for programs: create, read and limit them, and change their people."""

from typing import Any, ClassVar

from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import mixins, serializers, status, viewsets
from rest_framework.generics import get_object_or_404
from rest_framework.request import Request
from rest_framework.response import Response

from annotation import projects
from annotation.access import (
    ONLY_SITE_ADMINS,
    is_admin,
    is_site_admin,
    run_projects,
    visible_projects,
)
from annotation.api.campaigns import HasReadingRole, conflict
from annotation.api.parameters import TakesParameters
from annotation.models import Project, ProjectMember
from annotation.projects import LIMITS, NOT_YOURS
from annotation.web.password import require_recent
from core.messages import invalid_field, messages_of
from lifecycle.projects.usage import contents, usage_of

OF_SLUG = OpenApiParameter(
    "slug", str, OpenApiParameter.PATH, description="The short name of a project."
)


class ProjectSerializer(serializers.ModelSerializer[Project]):
    """A project; null as a limit is none."""

    class Meta:
        model = Project
        fields = ("slug", "name", *LIMITS, "created_at")
        read_only_fields = ("slug", *LIMITS, "created_at")


class LimitsSerializer(serializers.ModelSerializer[Project]):
    """Limits to change; null removes one."""

    class Meta:
        model = Project
        fields = LIMITS


class ProjectDetailSerializer(ProjectSerializer):
    """A project with what is used of its limits, and how much it holds by kind."""

    used = serializers.SerializerMethodField()
    holds = serializers.SerializerMethodField()

    class Meta(ProjectSerializer.Meta):
        fields = (*ProjectSerializer.Meta.fields, "used", "holds")  # type: ignore[assignment]

    @extend_schema_field(serializers.DictField(child=serializers.FloatField()))
    def get_used(self, project: Project) -> dict[str, float]:
        """Return what is used, by the name of the limit."""
        return {each.name: each.used for each in usage_of(project)}

    @extend_schema_field(serializers.DictField(child=serializers.IntegerField()))
    def get_holds(self, project: Project) -> dict[str, int]:
        """Return how many resources the user may see, by kind."""
        return {each.kind.name: each.n for each in contents(project, self.context["request"].user)}


@extend_schema(tags=["projects"])
class ProjectViewSet(TakesParameters, viewsets.ReadOnlyModelViewSet[Project]):
    """Projects of which the user is an admin or a researcher."""

    permission_classes = (HasReadingRole,)
    lookup_field = "slug"
    queryset = Project.objects.none()

    def get_queryset(self) -> QuerySet[Project]:
        """Return the projects that the user may read."""
        return visible_projects(self.request.user).order_by("slug")

    def get_serializer_class(self) -> type[ProjectSerializer]:
        """Return the serializer; a single project has its usage."""
        return ProjectSerializer if self.action == "list" else ProjectDetailSerializer

    @extend_schema(request=ProjectSerializer, responses={201: ProjectDetailSerializer})
    def create(self, request: Request, format: str | None = None) -> Response:
        """Create a project, with its creator as admin."""
        if not is_admin(request.user):
            raise PermissionDenied
        sent = ProjectSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        user: Any = request.user
        try:
            made = projects.create(name=sent.validated_data["name"], actor=user)
        except ValidationError as error:
            raise invalid_field("name", *messages_of(error)) from error
        return Response(self.get_serializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(request=LimitsSerializer, responses=ProjectDetailSerializer)
    def partial_update(self, request: Request, slug: str, format: str | None = None) -> Response:
        """Change limits; only site admins may."""
        project, user = self.get_object(), request.user
        if not is_site_admin(user):
            raise PermissionDenied(ONLY_SITE_ADMINS.text)
        sent = LimitsSerializer(project, data=request.data, partial=True)
        sent.is_valid(raise_exception=True)
        actor: Any = user
        projects.set_limits(project=project, limits=sent.validated_data, actor=actor)
        project.refresh_from_db()
        return Response(self.get_serializer(project).data)


class ProjectMemberSerializer(serializers.ModelSerializer[ProjectMember]):
    """An account and its role in the project."""

    username = serializers.CharField(source="user.username", max_length=150)

    class Meta:
        model = ProjectMember
        fields = ("id", "username", "role")


@extend_schema(tags=["projects"], parameters=[OF_SLUG])
class ProjectMemberViewSet(
    TakesParameters, mixins.ListModelMixin, viewsets.GenericViewSet[ProjectMember]
):
    """Accounts with a role in a project."""

    permission_classes = (HasReadingRole,)
    lookup_value_regex: ClassVar[str] = "[0-9]{1,18}"
    serializer_class = ProjectMemberSerializer
    queryset = ProjectMember.objects.all()

    def get_queryset(self) -> QuerySet[ProjectMember]:
        """Return the members of the project."""
        return self._project().members.select_related("user", "project").order_by("user__username")

    def _project(self) -> Project:
        rows = visible_projects(self.request.user)
        project: Project = get_object_or_404(rows, slug=self.kwargs["slug"])
        return project

    def _to_run(self) -> Project:
        project = self._project()
        if not run_projects(self.request.user).filter(pk=project.pk).exists():
            raise PermissionDenied(NOT_YOURS.text)
        require_recent(self.request)
        return project

    @extend_schema(request=ProjectMemberSerializer, responses={201: ProjectMemberSerializer})
    def create(self, request: Request, slug: str, format: str | None = None) -> Response:
        """Give an account a role in the project, or change its role."""
        project, actor = self._to_run(), request.user
        sent = ProjectMemberSerializer(data=request.data)
        sent.is_valid(raise_exception=True)
        given: dict[str, Any] = {"username": sent.validated_data["user"]["username"]}
        given["role"] = sent.validated_data.get("role", ProjectMember.Role.RESEARCHER)
        try:
            made = projects.set_member(project=project, actor=actor, **given)  # type: ignore[arg-type]
        except ValidationError as error:
            return conflict(error)
        return Response(ProjectMemberSerializer(made).data, status=status.HTTP_201_CREATED)

    @extend_schema(responses={204: None})
    def destroy(self, request: Request, slug: str, pk: str, format: str | None = None) -> Response:
        """Remove an account from the project."""
        project, actor = self._to_run(), request.user
        member = get_object_or_404(project.members.select_related("user", "project"), pk=pk)
        projects.remove_member(member=member, actor=actor)  # type: ignore[arg-type]
        return Response(status=status.HTTP_204_NO_CONTENT)
