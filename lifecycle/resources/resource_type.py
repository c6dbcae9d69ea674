"""A resource type: what a declaration says, and what it says where it is silent."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from django.db.models import Model, QuerySet

from annotation.access import is_site_admin, not_blinded
from annotation.models import Archived, TestSet, is_archived, listed

Resource = TypeVar("Resource", bound=Model)
# What goes, by what it is called in the singular, and how many of it.
Going = Sequence[tuple[str, int]]


class Attached(Protocol):
    """What an extension keeps of test sets: it is deleted with them."""

    def going(self, resource: TestSet) -> Going:
        """Return what is deleted with a test set."""
        ...

    def stop(self, resource: TestSet) -> None:
        """Cancel the background work that needs it."""
        ...


class ResourceType(Generic[Resource]):
    """One resource type; stateless.

    `name` stands in addresses, where `key` is the field that names a resource; `title` is the field
    that people change when they rename it, empty where its name is fixed. `home` is the address
    of the list. `test_set` is the path to the test set that a resource belongs to, empty where
    there is none. `fixed` says why a name cannot change. With `studies`, a resource can be put
    into a study.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    model: type[Resource]
    home: ClassVar[str]
    key = "pk"
    title = ""
    test_set = ""
    fixed = ""
    archives = True
    studies = False

    def seen(self, user: Any) -> QuerySet[Resource]:
        """Return what a user with a reading role may see."""
        rows = self.model._default_manager.all()
        return not_blinded(rows, user, self.test_set) if self.test_set else rows

    def owner(self, resource: Resource) -> int | None:
        """Return the account that a resource belongs to."""
        owner: int | None = getattr(resource, "created_by_id", None)
        return owner

    def may_change(self, user: Any, resource: Resource) -> bool:
        """Whether a user may rename a resource and put it away."""
        return self.may_delete(user, resource)

    def may_delete(self, user: Any, resource: Resource) -> bool:
        """Whether a user may delete a resource: its owner and site admins."""
        return is_site_admin(user) or self.owner(resource) == user.pk

    def may_copy(self, user: Any, resource: Resource) -> bool:
        """Whether a user may have a copy."""
        return False

    def copy_address(self, resource: Resource) -> str:
        """Return the address of a form that begins with what this resource was made by."""
        return ""

    def page(self, resource: Resource) -> str:
        """Return the address of its page."""
        address: str = resource.get_absolute_url()  # type: ignore[attr-defined]
        return address

    def called(self, resource: Resource) -> str:
        """Return what people call it."""
        return str(resource)

    def going(self, resource: Resource) -> Going:
        """Return what is deleted with it."""
        return ()

    def judgments(self, resource: Resource) -> int:
        """Return how many judgments would go."""
        return 0

    def staying(self, resource: Resource) -> str:
        """Say what stays, and what is seen no more."""
        return ""

    def export(self, resource: Resource) -> str:
        """Return the address at which its data can be taken first."""
        return ""

    def keeps(self, resource: Resource) -> str:
        """Say why a resource cannot be deleted now; empty where it can."""
        return ""

    def keeps_open(self, resource: Resource) -> str:
        """Say why it cannot be put away now; empty where it can."""
        return ""

    def stop(self, resource: Resource) -> None:
        """Cancel the background work that needs it."""

    def folders(self, resource: Resource) -> Sequence[Path]:
        """Return the folders that go with its rows."""
        return ()

    def erase(self, resource: Resource) -> None:
        """Delete its rows, in a transaction."""
        resource.delete()

    def rename(self, resource: Resource, name: str) -> None:
        """Store another name, which is checked."""
        setattr(resource, self.title, name)
        fields = {field.name for field in resource._meta.fields} - {self.title}
        resource.clean_fields(exclude=fields)
        resource.validate_unique()
        resource.validate_constraints()
        resource.save(update_fields=[self.title])

    def archived_since(self, resource: Resource) -> datetime | None:
        """Return when it was put away."""
        rows = Archived.objects.filter(model=resource._meta.label_lower, object_id=resource.pk)
        return rows.values_list("archived_at", flat=True).first()

    def is_archived(self, resource: Resource) -> bool:
        """Whether lists leave it out."""
        return is_archived(resource)

    def archived(self, user: Any) -> QuerySet[Resource]:
        """Return what a user may see of what is put away."""
        rows = self.seen(user)
        return rows.exclude(pk__in=listed(self.model._default_manager.all()).values("pk"))

    def archive(self, resource: Resource, user: Any) -> None:
        """Have lists leave it out."""
        label = resource._meta.label_lower
        Archived.objects.get_or_create(
            model=label, object_id=resource.pk, defaults={"archived_by": user}
        )

    def restore(self, resource: Resource) -> None:
        """Have lists show it again."""
        Archived.objects.filter(model=resource._meta.label_lower, object_id=resource.pk).delete()
