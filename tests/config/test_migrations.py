"""Migrations that move rows of the previous release: unfinished work continues."""

import uuid
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.apps import apps
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.core.management import call_command
from django.db import OperationalError, connection, models
from django.db.migrations import operations
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.operations.base import Operation
from django.db.models.fields import NOT_PROVIDED

from annotation.uploads import waiting
from config.management.commands import migrate as migrate_command

Migrate = Callable[[str, str], Any]


@pytest.fixture
def migrate(transactional_db: None) -> Iterator[Migrate]:
    """Takes an app to a migration, forwards or back, and returns the models of then by name."""

    def to(app: str, name: str) -> Any:
        apps = MigrationExecutor(connection).migrate([(app, name)]).apps
        return lambda model: apps.get_model(*model.split(".")).objects

    yield to
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())


def test_the_database_has_every_constraint_and_index_of_the_models(db: None) -> None:
    """Dropping the index of a foreign key, Django drops a partial unique one of that column too."""
    missing = []
    with connection.cursor() as cursor:
        for model in apps.get_models():
            if not model._meta.managed or model._meta.proxy:
                continue
            found = connection.introspection.get_constraints(cursor, model._meta.db_table)
            wanted = [each.name for each in (*model._meta.constraints, *model._meta.indexes)]
            missing += [f"{model._meta.db_table}: {name}" for name in wanted if name not in found]
            alone = {tuple(each["columns"]) for each in found.values() if each["unique"]}
            missing += [
                f"{model._meta.db_table}: {field.column} is not unique"
                for field in model._meta.concrete_fields
                if field.unique and (field.column,) not in alone and not field.primary_key
            ]
    assert missing == []


# Tables with a row for each text, score or judgment, of which a site has millions.
LARGE = frozenset({
    "assignment", "errorspan", "item", "judgment", "output", "playback", "reference", "segment",
    "segmentscore",
})  # fmt: skip
# Operations that PostgreSQL does without reading or locking a table for longer than a moment.
QUICK = (
    operations.AlterModelOptions,
    operations.RemoveIndex,
    operations.RenameIndex,
    AddIndexConcurrently,
    RemoveIndexConcurrently,
)


def is_slow(operation: Operation) -> bool:
    """Return whether an operation reads, rewrites or locks a large table."""
    if getattr(operation, "model_name", "").lower() not in LARGE or isinstance(operation, QUICK):
        return False
    # A new column takes a moment where its default is the same for all rows.
    is_constant = isinstance(operation, operations.AddField) and not (
        callable(operation.field.default) and operation.field.default is not NOT_PROVIDED
    )
    return not is_constant or operation.field.unique or operation.field.is_relation


def test_no_migration_keeps_annotators_waiting() -> None:
    """The first one of each app makes its tables; later ones find them full."""
    slow = [
        f"{app}.{name}: {operation}"
        for (app, name), migration in MigrationLoader(None).disk_migrations.items()
        if migration.dependencies and not migration.replaces and not migration.initial
        for operation in migration.operations
        if is_slow(operation)
    ]
    assert slow == []
    field = models.UUIDField(default=uuid.uuid4)
    assert is_slow(operations.AddField("Judgment", "token", field))
    index = models.Index(fields=["score"], name="judgment_score")
    assert is_slow(operations.AddIndex("Judgment", index))
    assert not is_slow(AddIndexConcurrently("Judgment", index))
    assert not is_slow(operations.AddField("Judgment", "mood", models.FloatField(null=True)))


def test_a_migration_waits_briefly_and_tries_again(
    db: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who asks for a table behind it waits as long as it does."""
    tried: list[str] = []

    def run(*_args: Any, **_options: Any) -> None:
        tried.append("once")
        if len(tried) < 3:
            locked = Exception()
            locked.sqlstate = "55P03" if len(tried) == 1 else "57014"  # type: ignore[attr-defined]
            raise OperationalError from locked

    monkeypatch.setattr(migrate_command, "PAUSE", 0)
    monkeypatch.setattr(migrate_command.connection, "close", lambda: None)
    monkeypatch.setattr(migrate_command.migrate.Command, "handle", run)
    with pytest.raises(OperationalError):
        call_command("migrate")
    assert len(tried) == 2
    call_command("migrate")
    assert len(tried) == 3


def test_test_sets_with_the_order_of_judgments_do_not_claim_that_of_a_file(
    migrate: Migrate,
) -> None:
    """A table of judgments makes a test set and campaigns of one address."""
    rows = migrate("annotation", "0001_squashed_0022_indexes")
    names = ("file", "judged", "scored", "used")
    made = {name: rows("annotation.TestSet").create(slug=name, name=name) for name in names}
    for slug, name, origin in (
        ("judged", "judged", "imported"),
        ("scored-mqm", "scored", "imported"),
        ("another", "used", "imported"),
        ("used", "used", "collected"),
    ):
        campaign = {"name": slug, "origin": origin, "test_set": made[name]}
        rows("annotation.Campaign").create(slug=slug, **campaign)
    rows = migrate("annotation", "0024_score_directions_and_file_order")
    found = rows("annotation.TestSet").values_list("slug", "is_in_file_order")
    assert dict(found) == {"file": True, "judged": False, "scored": False, "used": True}
    assert not rows("annotation.Campaign").filter(lower_is_better=True).exists()


def test_every_campaign_gets_a_secret_of_its_own(migrate: Migrate) -> None:
    rows = migrate("annotation", "0024_score_directions_and_file_order")
    test_set = rows("annotation.TestSet").create(slug="s", name="S")
    for slug in ("draft", "open"):
        rows("annotation.Campaign").create(slug=slug, name=slug, test_set=test_set, status=slug)

    rows = migrate("annotation", "0025_secret")
    secrets = [campaign.secret for campaign in rows("annotation.Campaign").all()]
    assert len(set(secrets)) == 2
    assert {len(secret) for secret in secrets} == {64}


def test_imports_of_data_sets_become_imports_of_files(migrate: Migrate) -> None:
    rows = migrate("metrics", "0019_templates_from_files")
    user = rows("auth.User").create(username="sender")
    campaign = {"slug": "set-mqm", "name": "set (MQM)", "is_new": True, "judgments": 3}
    sets = [{"test_set": "set", "campaigns": [campaign]}]
    for state, dataset in (("stored", ""), ("refused", "wmt17"), ("checked", ""), ("expired", "")):
        one = rows("metrics.DatasetImport").create(
            name=f"{state}.zip", state=state, status="done", dataset=dataset, created_by=user,
            choice={"language_pair": "en-de"}, content=b"zip" * (state == "checked"),
            found={"sets": sets}, stored={"sets": sets} if state == "stored" else {},
        )  # fmt: skip
    when = one.created_at
    rows = migrate("metrics", "0020_one_import")
    found = {each.name: each for each in rows("annotation.FileImport").all()}
    assert {name: (each.door, each.state) for name, each in found.items()} == {
        "stored.zip": ("mt-metrics-eval", "stored"),
        "refused.zip": ("data-set", "refused"),
        "checked.zip": ("mt-metrics-eval", "checking"),
        "expired.zip": ("mt-metrics-eval", "cancelled"),
    }
    (result,) = found["stored.zip"].stored["results"]
    assert (result["slug"], result["n_judgments"]) == ("set-mqm", 3)
    assert found["stored.zip"].stored["test_sets"] == ["set"]
    assert found["expired.zip"].created_at == when
    waits = found["checked.zip"]
    assert waits.status == "queued"
    sent = waiting.recall(waiting.token_of(waits.held, user_id=user.pk), user.pk)
    assert sent.words == {"language_pair": "en-de"}
    with sent.files["archive"].open() as archive:
        assert archive.read() == b"zip"
