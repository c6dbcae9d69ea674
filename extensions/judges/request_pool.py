"""Send many questions at once, by an event loop in a thread; the caller stores the replies.

The budget covers all of them: no question is sent that could exceed it.
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

from extensions.judges.client import Client, StoppedError
from extensions.judges.context import Endpoint, Question, Reply

# All available answers are stored at once. Wait so long for the first one and, while many questions
# are open, a moment for others, so that storing does not delay sending.
WAIT_SECONDS, GATHER_SECONDS, MOST_AT_ONCE = 1.0, 0.02, 256
# Questions for this number of seconds are prepared in advance: no connection waits for them.
AHEAD_SECONDS = 2.0
# A reply waits at most so long for the thread that prepares and stores (Python's default: 5 ms).
TURN_SECONDS = 2e-4
Answered = tuple[Question, Reply | Exception]
Sent = tuple[Question, bytes]


# Tokens per character before the server has counted any: too many rather than too few.
TOKENS_A_CHARACTER = 0.5


class TokenBudget:
    """The remaining budget in tokens and money, each without limit if None.

    A question reserves its highest possible cost, then its actual cost is counted.
    """

    def __init__(self, endpoint: Endpoint, limit: int) -> None:
        self._endpoint, self._limit = endpoint, limit
        self._tokens: float | None = None
        self._money: float | None = None
        self._reserved: dict[str, float] = {}
        self._prompts = self._characters = self._counted = 0.0

    def fill(self, tokens: float | None, money: float | None) -> None:
        """Set the remaining budget, as counted by the rows."""
        self._tokens, self._money = tokens, money

    @property
    def is_untouched(self) -> bool:
        """Return True if nothing is reserved: a question that cannot be paid now never can."""
        return not self._reserved

    def reserve(self, question: Question) -> bool:
        """Reserve the highest cost of a question; return True if the budget suffices."""
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
        """Release the reservation of a question; 0 tokens if the server did not count them."""
        self._prompts -= self._reserved.pop(question.key, 0.0)
        if prompt_tokens:
            self._counted += prompt_tokens
            self._characters += question.n_characters


class RequestPool:
    """`n` connections over one list of questions, which may grow meanwhile."""

    def __init__(
        self, client: Client, budget: TokenBudget, questions: Iterable[Question], n: int
    ) -> None:
        self._client, self._budget, self._n = client, budget, n
        self._waiting = deque(questions)
        # Questions that were handed over to the loop and are not answered yet.
        self._n_sent = self._n_answered = 0
        self._answers: SimpleQueue[Answered] = SimpleQueue()
        self._began = time.monotonic()
        self._loop, self._asked = asyncio.new_event_loop(), asyncio.Queue[Sent | None]()

    @property
    def _n_open(self) -> int:
        return len(self._waiting) + self._n_sent

    @property
    def n_wanted(self) -> int:
        """How many more questions to prepare; 0 while at least half of the queue is full."""
        rate = self._n_answered / max(time.monotonic() - self._began, 1e-3)
        ahead = max(2 * self._n, int(AHEAD_SECONDS * rate))
        waiting = self._n_open - self._n
        return ahead - max(waiting, 0) if waiting < ahead / 2 else 0

    def extend(self, questions: Iterable[Question]) -> None:
        """Add questions."""
        self._waiting.extend(questions)

    def answers(self, beat: Callable[[], None]) -> Iterator[list[Answered]]:
        """Yield answers as they come, until nothing is open; call `beat` in between.

        The first list, and that after a second without an answer, is empty. A caller that stops
        early gets the remaining answers from :meth:`rest`.
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
        """Send nothing more, and yield the answers to sent questions, which cost money."""
        self.stop()
        while self._n_open:
            beat()
            yield self._gather()
        self._end()

    def stop(self) -> None:
        """Send nothing more; sent questions finish, waiting ones are answered by StoppedError."""
        self._waiting.clear()
        self._loop.call_soon_threadsafe(self._client.stop)

    def _end(self) -> None:
        """End loop and connections."""
        self._put([None] * self._n)
        self._thread.join()

    def _send(self) -> None:
        """Hand over what can be paid; what never can is answered by StoppedError."""
        ready: list[Sent] = []
        while self._waiting and self._budget.reserve(self._waiting[0]):
            question = self._waiting.popleft()
            ready.append((question, json.dumps(question.body).encode()))
        self._n_sent += len(ready)
        self._put(ready)
        if self._waiting and self._budget.is_untouched:
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
        gc.freeze()  # a collection over the memory of a worker stops all threads for 0.2 s
        try:
            with closing(self._loop):
                self._loop.run_until_complete(self._run_all())
        finally:
            gc.unfreeze()
            sys.setswitchinterval(usual)

    async def _run_all(self) -> None:
        await asyncio.gather(*(self._send_all() for _ in range(self._n)))

    async def _send_all(self) -> None:
        with closing(self._client.connection()) as connection:
            while sent := await self._asked.get():
                question, body = sent
                try:
                    answer: Reply | Exception = await self._client.ask(connection, body)
                except Exception as error:  # otherwise the caller would wait for ever
                    answer = error
                self._answers.put((question, answer))
