"""Projects, which can be renamed, and deleted once they hold nothing."""

from typing import Any

from django.db.models import PROTECT, QuerySet

from annotation.access import run_projects, visible_projects
from annotation.models import Project
from lifecycle.resources.resource_type import Going, ResourceType
from metaeval.messages import Message, message

NOT_EMPTY = message(
    "project.not-empty", "This project is not empty. Move or delete what it holds first."
)


class Projects(ResourceType[Project]):
    """Projects with their members and decisions."""

    name, home = "project", "projects"
    label = message("resource.project", "Project")
    model = Project
    key, title = "slug", "name"
    archives = False

    def seen(self, user: Any) -> QuerySet[Project]:
        """Return the projects that the user may read."""
        return visible_projects(user)

    def may_delete(self, user: Any, resource: Project) -> bool:
        """Return True for admins of the project and of the site."""
        return run_projects(user).filter(pk=resource.pk).exists()

    def going(self, resource: Project) -> Going:
        """Count its decisions."""
        return [("decision", resource.audit.count())]

    def blocks_deletion(self, resource: Project) -> Message | None:
        """Refuse a project that holds something."""
        held = (field for field in Project._meta.related_objects if field.on_delete is PROTECT)
        rows = (field.related_model._default_manager.filter(project=resource) for field in held)
        return NOT_EMPTY if any(each.exists() for each in rows) else None
