"""The context of a judge in a run: it stores replies as they come, and counts their costs.

Connections of an endpoint are counted over all workers, with one row per possible connection. A
process extends its hold every few seconds; the rows of a process that was killed are free after
`HOLD_SECONDS`. A run's budget is held in the same way, by one process at a time, because two that
read the remaining budget at the same moment would spend it twice.
"""

import json
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import timedelta
from functools import partial
from typing import Any

from django.db import IntegrityError, connection, transaction
from django.db.models import F, Max, QuerySet

from core.database.waits import db_retry
from core.languages import display_name
from core.work.models import Now
from extensions.judges import endpoints, report, templates
from extensions.judges.context import Endpoint, Question, Reply
from extensions.judges.prompts import Template
from metrics.base import InputError, MetricInfo
from metrics.models import JudgeConnection, JudgeReply, JudgeSpending, MetricRun
from metrics.options import OptionError

AT_ONCE = 900
CHARACTERS_A_TOKEN = 3
Counted = tuple[Question, JudgeReply]


class RunContext:
    """The context of a judge in one run (:class:`extensions.judges.context.JudgeContext`)."""

    def __init__(self, info: MetricInfo, run_id: int) -> None:
        self._run = run_id
        try:
            self.endpoint: Endpoint = endpoints.get(str(info.option("endpoint")))
            self.template: Template = templates.get(str(info.option("template")))
        except OptionError as error:
            raise InputError(error.problem) from error
        self._connections, self._account = Connections(self.endpoint), account(run_id)

    def language(self, code: str) -> str:
        """Return the English name of a language."""
        return display_name(code)

    def key(self) -> str:
        """The key of the endpoint, from the environment."""
        return endpoints.key_of(self.endpoint)

    def stored(self, keys: Sequence[str]) -> Mapping[str, Sequence[Reply]]:
        """Return the stored replies, the oldest first, by the keys of their questions."""
        found: defaultdict[str, list[Reply]] = defaultdict(list)
        for some in range(0, len(keys), AT_ONCE):
            rows = JudgeReply.objects.filter(key__in=keys[some : some + AT_ONCE])
            columns = rows.values_list("key", "status", "body", "seconds", "run")
            listed: list[Any] = db_retry(partial(list, columns))
            for key, status, body, seconds, run in listed:
                found[key].append(Reply(status, body, seconds, is_new=run == self._run))
        return found

    def store(self, replies: Sequence[tuple[Question, Reply]]) -> Sequence[int]:
        """Store replies and count them in one transaction; return their prompt tokens."""
        counted = [(question, self._row(question, reply)) for question, reply in replies]
        db_retry(partial(self._store, counted))
        return [row.prompt_tokens for _, row in counted]

    def _row(self, question: Question, reply: Reply) -> JudgeReply:
        prompt, completion, served = _usage(reply.body)
        if reply.status == 200 and not prompt:
            # The server does not count tokens: a rough count still keeps the budget.
            prompt = -(-question.n_characters // CHARACTERS_A_TOKEN)
            completion = completion or -(-len(reply.body) // CHARACTERS_A_TOKEN)
        return JudgeReply(
            key=question.key,
            run_id=self._run,
            status=reply.status,
            body=reply.body.replace("\0", "�"),
            served=served,
            prompt_tokens=prompt,
            completion_tokens=completion,
            seconds=reply.seconds,
        )

    @transaction.atomic
    def _store(self, counted: Sequence[Counted]) -> None:
        _insert([row for _, row in counted])
        self._spending().update(
            calls=F("calls") + len(counted),
            characters=F("characters") + sum(question.n_characters for question, _ in counted),
            prompt_tokens=F("prompt_tokens") + sum(row.prompt_tokens for _, row in counted),
            completion_tokens=F("completion_tokens")
            + sum(row.completion_tokens for _, row in counted),
        )

    def note(self, *, reread: int = 0, lost: int = 0) -> None:
        """Count replies that were read without a call, and calls without a reply."""
        if reread or lost:
            db_retry(
                partial(self._spending().update, reread=F("reread") + reread, lost=F("lost") + lost)
            )

    def left(self) -> tuple[float | None, float | None]:
        """Return what is left of the budget: tokens, money; None without a limit."""
        row: JudgeSpending = db_retry(self._spending().get)
        return row.left

    def _spending(self) -> Any:
        return JudgeSpending.objects.filter(run=self._run)

    def report(self) -> None:
        """Store the report on the judge's verdicts so far, for the page of its run."""
        rows = MetricRun.objects.select_related("signature")
        run = db_retry(partial(rows.get, pk=self._run))
        if run.signature is not None:
            db_retry(partial(report.update, run, run.signature))

    @contextmanager
    def connections(self) -> Iterator[int]:
        """Hold the budget, where there is one, and as many connections as are free.

        The budget comes first, so that a process that waits for it does not block connections.
        """
        with ExitStack() as stack:
            if self.left() != (None, None):
                stack.enter_context(self._account.hold())
            yield stack.enter_context(self._connections.hold(self._account.keep))

    def keep_connections(self) -> None:
        """Extend the hold on the connections and the budget."""
        self._connections.keep()
        self._account.keep()


_COLUMNS = (
    *("key", "attempt", "run_id", "status", "body", "served"),
    *("prompt_tokens", "completion_tokens", "seconds"),
)
_VALUES = ", ".join(["%s"] * len(_COLUMNS))
_INSERT = f"INSERT INTO {JudgeReply._meta.db_table} ({', '.join(_COLUMNS)}) VALUES ({_VALUES})"  # noqa: S608


def _insert(rows: Sequence[JudgeReply]) -> None:
    """Insert replies; another worker may have stored one to the same question a moment ago."""
    _number(rows)
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            # Several times as fast as bulk_create, which would delay the threads that send.
            cursor.executemany(_INSERT, [[getattr(row, c) for c in _COLUMNS] for row in rows])
    except IntegrityError:
        for row in rows:
            _insert([row])


def _number(rows: Iterable[JudgeReply]) -> None:
    """Number the replies to each question, beginning after those that are there."""
    rows = list(rows)
    stored = JudgeReply.objects.filter(key__in=[row.key for row in rows]).order_by()
    last = dict(stored.values_list("key").annotate(Max("attempt")))
    for row in rows:
        row.attempt = last[row.key] = last.get(row.key, 0) + 1


def _usage(body: str) -> tuple[int, int, str]:
    """Return tokens of prompt and completion and the model that a reply names; 0 and empty where
    it names none."""
    try:
        reply = json.loads(body)
        usage, model = reply.get("usage") or {}, str(reply.get("model") or "")[:200]
        counts = (usage.get("prompt_tokens"), usage.get("completion_tokens"))
    except (ValueError, AttributeError):
        return 0, 0, ""
    prompt, completion = (n if isinstance(n, int) and 0 <= n < 2**31 else 0 for n in counts)
    return prompt, completion, model


HOLD_SECONDS, BEAT_SECONDS, LOOK_SECONDS = 20.0, 5.0, 0.2


class Connections:
    """The connections of one endpoint that this process holds."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint, self.holder = endpoint, uuid.uuid4().hex
        self._extended_at = 0.0

    @contextmanager
    def hold(self, meanwhile: Callable[[], None] = lambda: None) -> Iterator[int]:
        """Wait until connections are free; take all of them, give them back at the end.

        `meanwhile` is called while there are none.
        """
        db_retry(self._prepare)
        try:
            while not (n := db_retry(self.take)):
                meanwhile()
                time.sleep(LOOK_SECONDS)
            self._extended_at = time.monotonic()
            yield n
        finally:
            mine = JudgeConnection.objects.filter(holder=self.holder)
            db_retry(partial(mine.update, holder="", expires_at=Now()))

    def keep(self) -> None:
        """Extend the hold at intervals."""
        if time.monotonic() - self._extended_at > BEAT_SECONDS:
            self._extended_at = time.monotonic()
            mine = JudgeConnection.objects.filter(holder=self.holder)
            db_retry(partial(mine.update, expires_at=self._end()))

    def _end(self) -> object:
        return Now() + timedelta(seconds=HOLD_SECONDS)

    def _prepare(self) -> None:
        wanted = range(self.endpoint.connections)
        rows = [JudgeConnection(endpoint=self.endpoint.name, number=number) for number in wanted]
        if self._rows().count() < len(rows):
            JudgeConnection.objects.bulk_create(rows, ignore_conflicts=True)

    def _rows(self) -> QuerySet[JudgeConnection]:
        return JudgeConnection.objects.filter(
            endpoint=self.endpoint.name, number__lt=self.endpoint.connections
        )

    def take(self) -> int:
        """Take all that are free now, and return how many."""
        free = self._rows().filter(expires_at__lte=Now())
        return free.update(holder=self.holder, expires_at=self._end())


def account(run: int) -> Connections:
    """Return the budget of a run, which one process at a time holds, as a connection of its own."""
    return Connections(Endpoint(name=f"budget of run {run}", url="", connections=1))
