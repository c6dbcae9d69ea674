"""A kind of thing: what a declaration says, and what it says where it is silent."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from django.db.models import Model, QuerySet

from annotation.access import is_site_admin, not_blinded
from annotation.models import Archived, TestSet, is_archived, listed

Thing = TypeVar("Thing", bound=Model)
# What goes, by what it is called in the singular, and how many of it.
Going = Sequence[tuple[str, int]]


class Attached(Protocol):
    """What an extension keeps of test sets: it is deleted with them."""

    def going(self, thing: TestSet) -> Going:
        """Return what is deleted with a test set."""
        ...

    def stop(self, thing: TestSet) -> None:
        """Cancel the background work that needs it."""
        ...


class Kind(Generic[Thing]):
    """One kind of thing; stateless.

    `name` stands in addresses, where `key` is the field that names a thing; `title` is the field
    that people change when they rename it, empty where its name is fixed. `home` is the address
    of the list. `test_set` is the path to the test set that a thing belongs to, empty where there
    is none. `fixed` says why a name cannot change. A thing that `studies` can be put into a study.
    """

    name: ClassVar[str]
    label: ClassVar[str]
    model: type[Thing]
    home: ClassVar[str]
    key = "pk"
    title = ""
    test_set = ""
    fixed = ""
    archives = True
    studies = False

    def seen(self, user: Any) -> QuerySet[Thing]:
        """Return what a user with a reading role may see."""
        rows = self.model._default_manager.all()
        return not_blinded(rows, user, self.test_set) if self.test_set else rows

    def owner(self, thing: Thing) -> int | None:
        """Return the account that a thing belongs to."""
        owner: int | None = getattr(thing, "created_by_id", None)
        return owner

    def may_change(self, user: Any, thing: Thing) -> bool:
        """Whether a user may rename a thing and put it away."""
        return self.may_delete(user, thing)

    def may_delete(self, user: Any, thing: Thing) -> bool:
        """Whether a user may delete a thing: its owner and site admins."""
        return is_site_admin(user) or self.owner(thing) == user.pk

    def may_copy(self, user: Any, thing: Thing) -> bool:
        """Whether a user may have a copy."""
        return False

    def copy_address(self, thing: Thing) -> str:
        """Return the address of a form that begins with what this thing was made by."""
        return ""

    def page(self, thing: Thing) -> str:
        """Return the address of its page."""
        address: str = thing.get_absolute_url()  # type: ignore[attr-defined]
        return address

    def called(self, thing: Thing) -> str:
        """Return what people call it."""
        return str(thing)

    def going(self, thing: Thing) -> Going:
        """Return what is deleted with it."""
        return ()

    def judgments(self, thing: Thing) -> int:
        """Return how many judgments would go."""
        return 0

    def staying(self, thing: Thing) -> str:
        """Say what stays, and what is seen no more."""
        return ""

    def export(self, thing: Thing) -> str:
        """Return the address at which its data can be taken first."""
        return ""

    def keeps(self, thing: Thing) -> str:
        """Say why a thing cannot be deleted now; empty where it can."""
        return ""

    def keeps_open(self, thing: Thing) -> str:
        """Say why it cannot be put away now; empty where it can."""
        return ""

    def stop(self, thing: Thing) -> None:
        """Cancel the background work that needs it."""

    def folders(self, thing: Thing) -> Sequence[Path]:
        """Return the folders that go with its rows."""
        return ()

    def erase(self, thing: Thing) -> None:
        """Delete its rows, in a transaction."""
        thing.delete()

    def rename(self, thing: Thing, name: str) -> None:
        """Store another name, which is checked."""
        setattr(thing, self.title, name)
        fields = {field.name for field in thing._meta.fields} - {self.title}
        thing.clean_fields(exclude=fields)
        thing.validate_unique()
        thing.validate_constraints()
        thing.save(update_fields=[self.title])

    def archived_since(self, thing: Thing) -> datetime | None:
        """Return when it was put away."""
        rows = Archived.objects.filter(model=thing._meta.label_lower, object_id=thing.pk)
        return rows.values_list("archived_at", flat=True).first()

    def is_archived(self, thing: Thing) -> bool:
        """Whether lists leave it out."""
        return is_archived(thing)

    def archived(self, user: Any) -> QuerySet[Thing]:
        """Return what a user may see of what is put away."""
        rows = self.seen(user)
        return rows.exclude(pk__in=listed(self.model._default_manager.all()).values("pk"))

    def archive(self, thing: Thing, user: Any) -> None:
        """Have lists leave it out."""
        label = thing._meta.label_lower
        Archived.objects.get_or_create(
            model=label, object_id=thing.pk, defaults={"archived_by": user}
        )

    def restore(self, thing: Thing) -> None:
        """Have lists show it again."""
        Archived.objects.filter(model=thing._meta.label_lower, object_id=thing.pk).delete()
