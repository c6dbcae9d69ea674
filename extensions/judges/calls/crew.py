"""Many questions on their way at once, by a loop in a thread; the caller stores what they bring.

Their budget is spent on all of them at once: nothing is asked that could exceed it.
"""

import asyncio
import gc
import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from queue import Empty, SimpleQueue
from threading import Thread

from extensions.judges.calls.client import Client, StoppedError
from extensions.judges.desk import Endpoint, Question, Reply

# As many answers are stored at once as are there; the first is waited for so long, and while many
# questions are open others for a moment, so that storing takes nothing from the asking.
WAIT_SECONDS, GATHER_SECONDS, MOST_AT_ONCE = 1.0, 0.02, 256
# So many seconds of questions are kept ready, so that nobody waits while others are prepared.
AHEAD_SECONDS = 2.0
# A reply that is there waits no longer than this for who prepares and stores (Python's own: 5 ms).
TURN_SECONDS = 2e-4
Answered = tuple[Question, Reply | Exception]
Sent = tuple[Question, bytes]


# Tokens for a character before the server has counted any: too many rather than too few.
TOKENS_A_CHARACTER = 0.5


class Purse:
    """What may still be spent, in tokens, in money, or without limit (None).

    A question is reserved at its worst, a reply of the longest kind, and settled at what it took.
    """

    def __init__(self, endpoint: Endpoint, limit: int) -> None:
        self._endpoint, self._limit = endpoint, limit
        self._tokens: float | None = None
        self._money: float | None = None
        self._reserved: dict[str, float] = {}
        self._prompts = self._characters = self._counted = 0.0

    def fill(self, tokens: float | None, money: float | None) -> None:
        """Say what is left by the rows, where what was settled counts already."""
        self._tokens, self._money = tokens, money

    @property
    def is_untouched(self) -> bool:
        """Whether nothing is reserved: what cannot be paid now never can."""
        return not self._reserved

    def reserve(self, question: Question) -> bool:
        """Reserve what a question may take; whether there is as much."""
        prompt = question.n_characters * self._rate
        if is_payable := self._fits(self._prompts + prompt):
            self._reserved[question.key] = prompt
            self._prompts += prompt
        return is_payable

    @property
    def _rate(self) -> float:
        return self._counted / self._characters if self._characters else TOKENS_A_CHARACTER

    def _fits(self, prompts: float) -> bool:
        replies = self._limit * (1 + len(self._reserved))
        if self._tokens is not None and prompts + replies > self._tokens:
            return False
        return self._money is None or self._endpoint.cost(prompts, replies) <= self._money

    def settle(self, question: Question, prompt_tokens: int) -> None:
        """A question is answered, counted and stored, or will not be; 0 where nothing was said."""
        self._prompts -= self._reserved.pop(question.key, 0.0)
        if prompt_tokens:
            self._counted += prompt_tokens
            self._characters += question.n_characters


class Crew:
    """`n` connections over one list of questions, which may grow while they are asked."""

    def __init__(self, client: Client, purse: Purse, questions: Iterable[Question], n: int) -> None:
        self._client, self._purse, self._n = client, purse, n
        self._waiting = deque(questions)
        # Those that were handed over to the loop, and have not come back.
        self._n_sent = self._n_answered = 0
        self._answers: SimpleQueue[Answered] = SimpleQueue()
        self._is_stopped, self._began = False, time.monotonic()
        self._loop, self._asked = asyncio.new_event_loop(), asyncio.Queue[Sent | None]()

    @property
    def _n_open(self) -> int:
        return len(self._waiting) + self._n_sent

    @property
    def n_wanted(self) -> int:
        """How many questions more should wait; 0 while half of what should is there."""
        rate = self._n_answered / max(time.monotonic() - self._began, 1e-3)
        ahead = max(2 * self._n, int(AHEAD_SECONDS * rate))
        waiting = self._n_open - self._n
        return ahead - max(waiting, 0) if waiting < ahead / 2 else 0

    def extend(self, questions: Iterable[Question]) -> None:
        """Ask these, too."""
        self._waiting.extend(questions)

    def answers(self, beat: Callable[[], None]) -> Iterator[list[Answered]]:
        """Yield answers as they come, until nothing is open; `beat` is called in between.

        At first, and after a second without any, there are none. Whoever leaves early gets what is
        on its way from :meth:`rest`.
        """
        self._client.begin()
        self._thread = Thread(target=self._run, daemon=True)
        self._thread.start()
        self._send()
        yield []
        while self._n_open:
            self._send()
            beat()
            yield self._gather()
        self._end()

    def rest(self, beat: Callable[[], None]) -> Iterator[list[Answered]]:
        """Ask nothing more, and yield what was on its way: it is paid for."""
        self.stop()
        while self._n_open:
            beat()
            yield self._gather()
        self._end()

    def stop(self) -> None:
        """Ask nothing more: what is on its way is waited for, the rest answered by StoppedError."""
        self._is_stopped = True
        self._waiting.clear()
        self._loop.call_soon_threadsafe(self._client.stop)

    def _end(self) -> None:
        """End loop and connections."""
        self._put([None] * self._n)
        self._thread.join()

    def _send(self) -> None:
        """Hand over what can be paid; what never can is answered by StoppedError."""
        ready: list[Sent] = []
        while self._waiting and self._purse.reserve(self._waiting[0]):
            question = self._waiting.popleft()
            ready.append((question, json.dumps(question.body).encode()))
        self._n_sent += len(ready)
        self._put(ready)
        if self._waiting and self._purse.is_untouched:
            self._n_sent += 1
            self._answers.put((self._waiting.popleft(), StoppedError()))

    def _put(self, sent: Sequence[Sent | None]) -> None:
        def put() -> None:
            for each in sent:
                self._asked.put_nowait(each)

        if sent:
            self._loop.call_soon_threadsafe(put)

    def _gather(self) -> list[Answered]:
        found: list[Answered] = []
        try:
            found.append(self._answers.get(timeout=WAIT_SECONDS))
            if self._n_open > self._n:
                time.sleep(GATHER_SECONDS)
            while len(found) < MOST_AT_ONCE:
                found.append(self._answers.get_nowait())
        except Empty:
            pass
        self._n_sent -= len(found)
        self._n_answered += len(found)
        return found

    def _run(self) -> None:
        usual = sys.getswitchinterval()
        sys.setswitchinterval(TURN_SECONDS)
        gc.freeze()  # a collection over all that a worker has in memory stops everybody for 0.2 s
        try:
            with closing(self._loop):
                self._loop.run_until_complete(self._work_all())
        finally:
            gc.unfreeze()
            sys.setswitchinterval(usual)

    async def _work_all(self) -> None:
        await asyncio.gather(*(self._work() for _ in range(self._n)))

    async def _work(self) -> None:
        with closing(self._client.connection()) as connection:
            while sent := await self._asked.get():
                question, body = sent
                try:
                    answer: Reply | Exception = await self._client.ask(connection, body)
                except Exception as error:  # a task that dies would be waited for in vain
                    answer = error
                self._answers.put((question, answer))
