"""The base of resource types, with what holds for a type that declares nothing else."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from django.db.models import Model, QuerySet

from annotation.access import is_site_admin, readable, run_projects
from annotation.models import Archived, Project, TestSet, is_archived, listed
from metaeval.messages import Message, message, plural

Resource = TypeVar("Resource", bound=Model)
# What is deleted, by its key in `COUNTED`, and how many of it.
Going = Sequence[tuple[str, int]]
# What is deleted, as a count with its noun. The keys are stored with entries of changes.
COUNTED: dict[str, Callable[[int], Message]] = {
    "judgment": lambda n: plural("count.judgments", "{n} judgment", "{n} judgments", n=n),
    "error span": lambda n: plural("count.error-spans", "{n} error span", "{n} error spans", n=n),
    "adjudication": lambda n: plural(
        "count.adjudications", "{n} adjudication", "{n} adjudications", n=n
    ),
    "published human score": lambda n: plural(
        "count.published-scores", "{n} published human score", "{n} published human scores", n=n
    ),
    "annotator": lambda n: plural("count.annotators", "{n} annotator", "{n} annotators", n=n),
    "personal link account": lambda n: plural(
        "count.link-accounts",
        "{n} account of a personal link",
        "{n} accounts of personal links",
        n=n,
    ),
    "item": lambda n: plural("count.items", "{n} item", "{n} items", n=n),
    "access link": lambda n: plural("count.links", "{n} access link", "{n} access links", n=n),
    "membership": lambda n: plural("count.memberships", "{n} membership", "{n} memberships", n=n),
    "decision": lambda n: plural(
        "count.decisions", "{n} recorded decision", "{n} recorded decisions", n=n
    ),
    "stored result": lambda n: plural(
        "count.results", "{n} stored result", "{n} stored results", n=n
    ),
    "saved selection": lambda n: plural(
        "count.selections", "{n} saved selection", "{n} saved selections", n=n
    ),
    "segment": lambda n: plural("count.segments", "{n} segment", "{n} segments", n=n),
    "reference": lambda n: plural("count.references", "{n} reference", "{n} references", n=n),
    "system": lambda n: plural("count.systems", "{n} system", "{n} systems", n=n),
    "output": lambda n: plural("count.outputs", "{n} output", "{n} outputs", n=n),
    "metric run": lambda n: plural("count.runs", "{n} metric run", "{n} metric runs", n=n),
    "score import": lambda n: plural("count.imports", "{n} score import", "{n} score imports", n=n),
    "signature": lambda n: plural("count.signatures", "{n} signature", "{n} signatures", n=n),
    "score": lambda n: plural("count.scores", "{n} score", "{n} scores", n=n),
    "imported score table": lambda n: plural(
        "count.score-tables", "{n} imported score table", "{n} imported score tables", n=n
    ),
    "worker’s report": lambda n: plural(
        "count.worker-reports", "{n} worker report", "{n} worker reports", n=n
    ),
    "failed text": lambda n: plural(
        "count.failed-texts", "{n} failed text", "{n} failed texts", n=n
    ),
}


def counted(amounts: Mapping[str, int]) -> list[Message]:
    """Return amounts that are not 0, each with its noun."""
    return [
        COUNTED[what](n)
        if what in COUNTED
        else message("count.other", "{what}: {n}", what=what, n=n)
        for what, n in amounts.items()
        if n
    ]


class Attached(Protocol):
    """Data of an extension that belongs to test sets and is deleted with them."""

    def going(self, resource: TestSet) -> Going:
        """Return what is deleted with a test set."""
        ...

    def stop(self, resource: TestSet) -> None:
        """Cancel the background work that needs it."""
        ...

    def moved(self, resource: TestSet) -> None:
        """Put what was computed from it into its project."""
        ...


class ResourceType(Generic[Resource]):
    """One resource type; it has no state.

    Attributes
    ----------
    name
        The part of addresses that names the type.
    label
        What pages call a resource of the type.
    home
        The name of the address of the list.
    key
        The field that names a resource in addresses.
    title
        The field that renaming changes; empty where a name cannot change.
    fixed
        Why a name cannot change.
    test_set
        The path of fields to the test set of a resource; empty where there is none.
    archives
        True if resources can be archived.
    studies
        True if a resource can be put into a study.
    project
        The path of fields to the project of a resource; empty where there is none. With a path of
        one field, a resource can be put into a project.
    """

    name: ClassVar[str]
    label: ClassVar[Message]
    # The heading of a list of them on the page of a project.
    several: ClassVar[Message]
    model: type[Resource]
    home: ClassVar[str]
    key = "pk"
    title = ""
    test_set = ""
    fixed: ClassVar[Message | None] = None
    archives = True
    studies = False
    project = ""

    def seen(self, user: Any) -> QuerySet[Resource]:
        """Return what a user with a reading role may see."""
        rows = self.model._default_manager.all()
        return readable(rows, user, self.test_set) if self.test_set else rows

    def owner(self, resource: Resource) -> int | None:
        """Return the account that a resource belongs to."""
        owner: int | None = getattr(resource, "created_by_id", None)
        return owner

    def may_change(self, user: Any, resource: Resource) -> bool:
        """Return True if a user may rename and archive a resource."""
        return self.may_delete(user, resource)

    def may_delete(self, user: Any, resource: Resource) -> bool:
        """Return True for the owner of a resource and for site admins."""
        return is_site_admin(user) or self.owner(resource) == user.pk

    def may_move(self, user: Any, resource: Resource) -> bool:
        """Return True if a user may put a resource into a project, or take it out of its own."""
        if self.project != "project":
            return False
        held: Project | None = resource.project  # type: ignore[attr-defined]
        if held is None:
            return self.may_change(user, resource)
        return run_projects(user).filter(pk=held.pk).exists()

    def may_copy(self, user: Any, resource: Resource) -> bool:
        """Return True if a user may copy a resource."""
        return False

    def copy_address(self, resource: Resource) -> str:
        """Return the address of a form with the settings of a resource; empty without one."""
        return ""

    def page(self, resource: Resource) -> str:
        """Return the address of the page of a resource."""
        address: str = resource.get_absolute_url()  # type: ignore[attr-defined]
        return address

    def called(self, resource: Resource) -> str:
        """Return the name of a resource on pages."""
        return str(resource)

    def going(self, resource: Resource) -> Going:
        """Return what is deleted with a resource."""
        return ()

    def judgments(self, resource: Resource) -> int:
        """Return how many judgments would be deleted."""
        return 0

    def staying(self, resource: Resource) -> Message | None:
        """Say what stays, and what is no longer shown."""
        return None

    def export(self, resource: Resource) -> str:
        """Return the address of an export of its data; empty without one."""
        return ""

    def blocks_deletion(self, resource: Resource) -> Message | None:
        """Say why a resource cannot be deleted now; None if it can."""
        return None

    def blocks_archiving(self, resource: Resource) -> Message | None:
        """Say why a resource cannot be archived now; None if it can."""
        return None

    def stop(self, resource: Resource) -> None:
        """Cancel the background work that needs it."""

    def folders(self, resource: Resource) -> Sequence[Path]:
        """Return the folders that are deleted with its rows."""
        return ()

    def erase(self, resource: Resource) -> None:
        """Delete its rows, in a transaction."""
        resource.delete()

    def rename(self, resource: Resource, name: str) -> None:
        """Check and store another name; raises ValidationError."""
        setattr(resource, self.title, name)
        fields = {field.name for field in resource._meta.fields} - {self.title}
        resource.clean_fields(exclude=fields)
        resource.validate_unique()
        resource.validate_constraints()
        resource.save(update_fields=[self.title])

    def archived_since(self, resource: Resource) -> datetime | None:
        """Return when a resource was archived; None if it is not."""
        rows = Archived.objects.filter(model=resource._meta.label_lower, object_id=resource.pk)
        return rows.values_list("archived_at", flat=True).first()

    def is_archived(self, resource: Resource) -> bool:
        """Return True if a resource is archived."""
        return is_archived(resource)

    def archived(self, user: Any) -> QuerySet[Resource]:
        """Return the archived resources that a user may see."""
        rows = self.seen(user)
        return rows.exclude(pk__in=listed(self.model._default_manager.all()).values("pk"))

    def archive(self, resource: Resource, user: Any) -> None:
        """Hide a resource in lists."""
        label = resource._meta.label_lower
        Archived.objects.get_or_create(
            model=label, object_id=resource.pk, defaults={"archived_by": user}
        )

    def restore(self, resource: Resource) -> None:
        """Show a resource in lists again."""
        Archived.objects.filter(model=resource._meta.label_lower, object_id=resource.pk).delete()
