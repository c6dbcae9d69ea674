"""What the test sets of a project store, and the project's limit."""

from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import F, Func, Sum

from annotation.models import Output, Project, Reference, Segment, TestSet
from annotation.uploads.files import size_of
from annotation.uploads.media.storage import path_of
from metaeval.messages import message


def check_storage(test_set: TestSet) -> None:
    """Count what a test set of a project stores; ValidationError if the project has no room."""
    if test_set.project_id is None:
        return
    project = Project.objects.select_for_update().get(pk=test_set.project_id)
    test_set.n_bytes = bytes_of(test_set)
    test_set.save(update_fields=["n_bytes"])
    used = stored(project)
    if project.max_bytes is not None and used > project.max_bytes:
        raise ValidationError(
            [
                message(
                    "project.storage",
                    "The project “{project}” may store {limit}. Its other test sets take {used}, "
                    "and “{test_set}” needs {needed}. Site admins can change the limit on the page "
                    "of the project.",
                    project=project.name,
                    limit=size_of(project.max_bytes),
                    used=size_of(used - test_set.n_bytes),
                    test_set=test_set.name,
                    needed=size_of(test_set.n_bytes),
                )
            ]
        )


def stored(project: Project) -> int:
    """Return how many bytes the test sets of a project store."""
    return TestSet.objects.filter(project=project).aggregate(n=Sum("n_bytes"))["n"] or 0


class _Bytes(Func):
    """The bytes of a text in UTF-8."""

    template = "OCTET_LENGTH(%(expressions)s)"

    def as_sqlite(self, compiler: Any, connection: Any, **context: Any) -> Any:
        return self.as_sql(
            compiler, connection, template="LENGTH(CAST(%(expressions)s AS BLOB))", **context
        )


def bytes_of(test_set: TestSet) -> int:
    """Return the bytes of all texts of a test set and of its recordings and pictures."""
    rows = [
        Segment.objects.filter(test_set=test_set).values_list("source"),
        Reference.objects.filter(segment__test_set=test_set).values_list("text"),
        Output.objects.filter(system__test_set=test_set).values_list("text"),
    ]
    names = ("source", "text", "text")
    total = sum(
        row.aggregate(n=Sum(_Bytes(F(name))))["n"] or 0
        for row, name in zip(rows, names, strict=True)
    )
    beside = Segment.objects.filter(test_set=test_set).values_list("beside", flat=True)
    files = {each["file"] for each in beside.exclude(beside=None) if each and "file" in each}
    return total + sum(path_of(name).stat().st_size for name in files if path_of(name).exists())
