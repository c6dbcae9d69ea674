"""From questions to verdicts: what is stored is read, the rest is asked, once more at most."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from extensions.judges.calls.client import Client, StoppedError
from extensions.judges.calls.crew import Answered, Crew, Purse
from extensions.judges.desk import Desk, Question, Reply
from extensions.judges.scoring import reading
from extensions.judges.scoring.reading import UnusableError, Verdict
from metrics.base import MetricError

# A question is asked so often in a run before its reply counts as missing.
ATTEMPTS = 2
# So many questions at once are looked for among what is stored.
READ_AT_ONCE = 512
NO_BUDGET = "Stopped at the budget. What was answered is kept: a new run goes on from there."
Read = Callable[[Question, Reply], Verdict]


@dataclass
class Answers:
    """Verdicts by the keys of their questions; why others have none; what ended the asking."""

    verdicts: dict[str, Verdict] = field(default_factory=dict)
    unusable: dict[str, str] = field(default_factory=dict)
    error: MetricError | None = None


def read_reply(kind: str) -> Read:
    """Return the reading of the replies to a kind of template."""

    def read(question: Question, reply: Reply) -> Verdict:
        text = reading.content_of(reply.status, reply.body)
        return reading.read(kind, text, question.labels)

    return read


class Source(Protocol):
    """Questions that come while others are asked."""

    def more(self, n: int) -> Sequence[Question]:
        """Return further questions, about n; none where no more come."""
        ...

    def settled(self, keys: Iterable[str]) -> None:
        """Hear which questions are done with: they have a verdict, or are unusable."""
        ...


class Asking:
    """Questions at a desk, asked as they come. `found` is what is known by now."""

    def __init__(self, desk: Desk, client: Client, read: Read, limit: int) -> None:
        self.desk, self.client, self.read = desk, client, read
        self.limit = limit
        self.found = Answers()
        self._n_asked: dict[str, int] = {}
        self._open: set[str] = set()

    def ask(self, source: Source) -> None:
        """Find an answer to every question of a source: stored, or asked for."""
        while not self.found.error and (questions := source.more(READ_AT_ONCE)):
            if open_ := self._stored(source, questions):
                with self.desk.connections() as n:
                    self._ask(source, open_, n)

    def forget(self, key: str) -> None:
        """Forget a verdict that nobody needs any more: it is stored."""
        self.found.verdicts.pop(key, None)
        self.found.unusable.pop(key, None)

    def _stored(self, source: Source, questions: Sequence[Question]) -> list[Question]:
        """Read what is stored; return what has to be asked."""
        unique = {question.key: question for question in questions if not self._is_known(question)}
        stored = self.desk.stored(list(unique))
        open_ = [q for key, q in unique.items() if not self._settled(q, stored.get(key, ()))]
        self._open |= {question.key for question in open_}
        if n_read := len(unique) - len(open_):
            self.desk.note(reread=n_read)
        source.settled(q.key for q in questions if q.key not in self._open)
        return open_

    def _is_known(self, question: Question) -> bool:
        key = question.key
        return key in self._open or key in self.found.verdicts or key in self.found.unusable

    def _settled(self, question: Question, replies: Sequence[Reply]) -> bool:
        """Take the first usable reply; whether there is one, or this run has asked enough."""
        for reply in replies:
            if self._take(question, reply):
                return True
        self._n_asked[question.key] = sum(reply.is_new for reply in replies)
        is_enough = self._n_asked[question.key] >= ATTEMPTS
        if not is_enough:
            self.found.unusable.pop(question.key, None)
        return is_enough

    def _take(self, question: Question, reply: Reply) -> bool:
        try:
            self.found.verdicts[question.key] = self.read(question, reply)
        except UnusableError as error:
            self.found.unusable[question.key] = str(error)
            return False
        self.found.unusable.pop(question.key, None)
        return True

    def _ask(self, source: Source, questions: Sequence[Question], n: int) -> None:
        purse = Purse(self.desk.endpoint, self.limit)
        purse.fill(*self.desk.left())
        crew = Crew(self.client, purse, questions, n)
        lost, beat = self.client.lost, self.desk.keep_connections
        try:
            for answered in crew.answers(beat):
                self._store(answered, purse)
                source.settled([q.key for q, answer in answered if self._hear(q, answer, crew)])
                if (n_wanted := crew.n_wanted) and not self.found.error:
                    crew.extend(self._stored(source, source.more(n_wanted)))
        except Exception:
            for answered in crew.rest(beat):
                self._store(answered, purse)
            raise
        finally:
            self.desk.note(lost=self.client.lost - lost)

    def _store(self, answered: Sequence[Answered], purse: Purse) -> None:
        """Keep what came before anything else is done with it."""
        replies = [(q, answer) for q, answer in answered if isinstance(answer, Reply)]
        if replies:
            tokens = self.desk.store(replies)
            purse.fill(*self.desk.left())
        counted = iter(tokens if replies else ())
        for question, answer in answered:
            purse.settle(question, next(counted) if isinstance(answer, Reply) else 0)

    def _hear(self, question: Question, answer: Reply | Exception, crew: Crew) -> bool:
        """Take an answer; whether its question is done with."""
        if isinstance(answer, Reply):
            self._n_asked[question.key] = self._n_asked.get(question.key, 0) + 1
            if not self._take(question, answer) and self._n_asked[question.key] < ATTEMPTS:
                self.found.unusable.pop(question.key)
                crew.extend([question])
                return False
            self._open.discard(question.key)
            del self._n_asked[question.key]
            return True
        crew.stop()
        if isinstance(answer, StoppedError):
            self.found.error = self.found.error or MetricError(NO_BUDGET, permanent=True)
        elif isinstance(answer, MetricError):
            self.found.error = answer
        else:
            raise answer
        return False
