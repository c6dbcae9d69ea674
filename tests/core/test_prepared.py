"""Statements put together once: the same rows as the query's own, whatever the database does."""

import uuid
from datetime import UTC

import psycopg
import pytest
from django.contrib.auth.models import User
from django.db import connection, connections, transaction
from django.db.backends.postgresql.psycopg_any import BaseTzLoader
from django.db.models import Q, Value

from core.database.postgresql.base import TimeLoader
from core.database.prepared import Prepared, Statement, execute, placeholder_key

TIMESTAMPTZ = psycopg.adapters.types["timestamptz"].oid
KEY, NAME = placeholder_key(1), "placeholder for a name"


@pytest.fixture
def people(db: None) -> list[User]:
    return [User.objects.create(username=name) for name in ("100% o'clock $1", "b %s", "c")]


def test_stand_ins_may_come_twice_and_constants_may_hold_signs(people: list[User]) -> None:
    statement = Statement(
        lambda: (
            User.objects.filter(Q(pk=KEY) | Q(pk__gt=KEY) | Q(username=NAME))
            .exclude(username="b %s")
            .annotate(n=Value(7))
            .order_by("pk")
            .values_list("username", "n")
        )
    )
    first, _, last = people
    for name, expected in ((first.username, [first, last]), ("nobody", [last])):
        found = statement.values({KEY: last.pk, NAME: name})
        assert list(map(tuple, found)) == [(each.username, 7) for each in expected]


def test_a_statement_outlives_a_transaction_that_is_rolled_back(people: list[User]) -> None:
    statement = Prepared(lambda: User.objects.filter(pk=KEY))
    name = f"new-{uuid.uuid4()}"
    rename = "UPDATE auth_user SET username = %s WHERE id = %s"
    for _ in range(2):
        with transaction.atomic(), connection.cursor() as cursor:
            execute(cursor, rename, [name, people[0].pk])
            assert [row.username for row in statement.rows({KEY: people[0].pk})] == [name]
            transaction.set_rollback(True)
        assert statement.rows({KEY: people[0].pk}) == [people[0]]
        assert statement.rows({KEY: people[0].pk})[0].username == people[0].username


@pytest.mark.skipif(connection.vendor != "postgresql", reason="only PostgreSQL plans")
def test_it_is_planned_once_a_connection(people: list[User]) -> None:
    constant = str(uuid.uuid4())
    statement = Prepared(lambda: User.objects.filter(pk=KEY).exclude(username=constant))
    for person in people:
        assert statement.rows({KEY: person.pk}) == [person]
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement FROM pg_prepared_statements")
        known = [sql for (sql,) in cursor.fetchall()]
    assert sum(constant in sql for sql in known) == 1


@pytest.mark.skipif(connection.vendor != "postgresql", reason="an engine for PostgreSQL")
@pytest.mark.django_db(transaction=True)
def test_a_connection_that_the_server_ended_is_not_used_again() -> None:
    connection.ensure_connection()
    assert connection.is_usable()
    assert connection.is_usable()
    with connections["default"].copy().temporary_connection() as cursor:
        pid = connection.connection.info.backend_pid
        cursor.execute("SELECT pg_terminate_backend(%s, 5000)", [pid])
    assert not connection.is_usable()
    connection.close()


def test_times_of_postgresql_are_read_as_django_reads_them() -> None:
    zone = {"timezone": UTC}
    ours, theirs = (
        type("Loader", (each,), zone)(TIMESTAMPTZ, None) for each in (TimeLoader, BaseTzLoader)
    )
    for fraction in ("", *(f".{'123456'[:n]}" for n in range(1, 7)), ".000001"):
        for year in ("0001", "1999", "2026", "9999"):
            text = f"{year}-11-30 03:49:18{fraction}+00".encode()
            assert ours.load(text) == theirs.load(memoryview(text)) == ours.load(memoryview(text))
            assert ours.load(text).tzinfo is UTC
    for text in (b"infinity", b"10000-01-01 00:00:00+00", b"0044-03-15 10:00:00+00 BC"):
        with pytest.raises(psycopg.DataError):
            ours.load(text)
