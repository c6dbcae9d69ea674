"""Migrations that move rows, with rows of the release before: what was in hand goes on."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.apps import apps
from django.db import connection
from django.db.migrations.autodetector import MigrationAutodetector
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

Migrate = Callable[[str, str], Any]


@pytest.fixture
def migrate(transactional_db: None) -> Iterator[Migrate]:
    """Takes an app to a migration, forwards or back, and returns the models of then by name."""

    def to(app: str, name: str) -> Any:
        apps = one_by_one().migrate([(app, name)]).apps
        return lambda model: apps.get_model(*model.split(".")).objects

    yield to
    executor = one_by_one()
    executor.migrate(executor.loader.graph.leaf_nodes())


def one_by_one() -> MigrationExecutor:
    """Migrates as a database of an older release is."""
    executor = MigrationExecutor(connection)
    executor.loader = MigrationLoader(connection, replace_migrations=False)
    return executor


@pytest.mark.parametrize("app", ["annotation", "dashboards", "metrics", "training"])
def test_a_new_database_is_like_one_of_an_older_release(app: str) -> None:
    """What stands for several migrations comes to the same models."""
    loader = MigrationLoader(None, replace_migrations=False)
    own = {name: each for (label, name), each in loader.disk_migrations.items() if label == app}
    [squashed] = [name for name, each in own.items() if each.replaces]
    _, last = own[squashed].replaces[-1]
    older, new = (loader.project_state([(app, name)]) for name in (last, squashed))
    changes = MigrationAutodetector(older, new)._detect_changes()
    assert [operation for each in changes.get(app, []) for operation in each.operations] == []


def test_metrics_keep_scores_of_runs_in_hand_and_imports_that_wait(migrate: Migrate) -> None:
    """Runs are planned anew."""
    rows = migrate("metrics", "0009_dataset_import")
    about = {"label": "Own", "family": "comet", "description": {"queue": "gpu"}}
    rows("metrics.ConfiguredMetric").create(name="own", **about)
    signature = rows("metrics.MetricSignature").create(
        metric="chrf", signature="chrf|v", measures=[]
    )
    rows("metrics.SegmentScore").create(signature=signature, content_key="k", values=b"12345678")
    test_set = rows("annotation.TestSet").create(slug="s", name="S")
    start = rows("metrics.MetricRun").create
    waits = start(test_set=test_set, metric="own", total=9)
    half = {"status": "running", "done": 4, "rate": 7.0, "planned": 9, "cursor": 6}
    runs = start(test_set=test_set, metric="chrf", total=9, signature=signature, **half)
    over = start(test_set=test_set, metric="chrf", total=9, done=9, status="done", rate=None)
    rows("metrics.RunPlan").create(run=runs, output_ids=bytes(72))
    worker = rows("metrics.RunWorker").create(run=runs, name="w@one", process="1", host="one")
    rows("metrics.Lease").create(run=runs, worker=worker, first=4, size=2)

    rows = migrate("metrics", "0010_slices")
    found = rows("metrics.MetricRun").order_by("pk").values_list("pk", "status", "done", "rate")
    assert list(found) == [
        (waits.pk, "queued", 0, None),
        (runs.pk, "queued", 4, None),
        (over.pk, "done", 9, None),
    ]
    slices = rows("metrics.Slice").order_by("run").values_list("run", "queue", "status", "size")
    assert list(slices) == [(waits.pk, "gpu", "queued", 0), (runs.pk, "cpu", "queued", 0)]
    assert not rows("metrics.RunPlan").exists()
    assert rows("metrics.RunWorker").get().name == "w@one"
    assert rows("metrics.SegmentScore").get().content_key == "k"

    user = rows("auth.User").create(username="admin")
    states = ("checking", "checked", "storing", "stored", "refused", "expired")
    for state in states:
        taken_at = timezone.now() if state == "storing" else None
        about = {"name": state, "content": b"zip", "taken_at": taken_at, "created_by_id": user.pk}
        rows("metrics.DatasetImport").create(state=state, **about)

    rows = migrate("metrics", "0011_imports_as_work")
    found = rows("metrics.DatasetImport").order_by("pk").values_list("state", "status", "queue")
    waiting = {"checking", "storing"}
    assert list(found) == [
        (state, "queued" if state in waiting else "done", "slow") for state in states
    ]
    assert {bytes(row.content) for row in rows("metrics.DatasetImport").all()} == {b"zip"}


def test_trainings_go_on_from_what_they_saved(migrate: Migrate) -> None:
    rows = migrate("training", "0005_job_is_here")
    start = rows("training.TrainingJob").create
    start(name="waits", kind="head", options={"queue": "documents-slow"})
    start(name="in hand", kind="remap", status="running", attempts=2, claim="c", progress={"at": 3})
    start(name="ended", kind="remap", status="done", attempts=2, message="")

    rows = migrate("training", "0006_work")
    jobs = {job.name: job for job in rows("training.TrainingJob").all()}
    told = {
        name: (job.status, job.queue, job.attempts, job.expires_at is not None)
        for name, job in jobs.items()
    }
    assert told == {
        "waits": ("queued", "documents-slow", 0, False),
        "in hand": ("running", "gpu", 0, True),
        "ended": ("done", "gpu", 1, False),
    }
    assert jobs["in hand"].expires_at <= timezone.now()
    assert jobs["in hand"].progress == {"at": 3}


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


def test_test_sets_with_the_order_of_judgments_do_not_claim_that_of_a_file(
    migrate: Migrate,
) -> None:
    """A table of judgments makes a test set and campaigns of one address."""
    rows = migrate("annotation", "0022_indexes")
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
