import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

from kombu import Connection

from core.work.brokers import transport_options

# A worker whose child is killed while it has no broker: it watches its children with a new loop
# before it has replaced the dead one.
KILLED_MEANWHILE = """
import os, signal, sys, time
from kombu.asynchronous import Hub, set_event_loop
from core.work.embedded import TaskPool

pool, before, after = TaskPool.Pool(processes=2, threads=False), Hub(), Hub()
set_event_loop(before)
pool.register_with_event_loop(before)
dead, alive = pool._pool
os.kill(dead.pid, signal.SIGKILL)
while dead.is_alive():
    time.sleep(0.01)
pool._untrack_child_process(dead, before)
pool.register_with_event_loop(after)
assert alive._sentinel_poll in after.readers
pool.maintain_pool()
children = [child.pid for child in pool._pool]
assert len(children) == 2 and alive.pid in children and dead.pid not in children
pool.terminate()
pool.join()
"""


def test_a_worker_outlives_a_child_that_dies_while_the_broker_is_away() -> None:
    root = Path(__file__).parents[3]
    subprocess.run([sys.executable, "-c", KILLED_MEANWHILE], cwd=root, check=True, timeout=300)


def test_messages_come_in_order_and_whole(tmp_path: Path) -> None:
    options = transport_options("filesystem://", tmp_path)
    with Connection("filesystem://", transport_options=options) as broker:
        queue = broker.SimpleQueue("cpu")
        for number in range(20):
            queue.put({"number": number})
        names = sorted(path.name for path in (tmp_path / "queue").iterdir())
        assert len(names) == 20
        assert all(name.endswith(".cpu.msg") for name in names)
        assert [queue.get(timeout=60).payload["number"] for _ in names] == list(range(20))


def test_a_table_of_queues_is_never_seen_unfinished(tmp_path: Path) -> None:
    """Each queue is bound the moment another process has made the file of the table."""
    options, seen = transport_options("filesystem://", tmp_path), []
    with Connection("filesystem://", transport_options=options) as connection:
        channel = connection.channel()
        opened = Path.open

        def watched(path: Path, *args: Any, **kwargs: Any) -> Any:
            file = opened(path, *args, **kwargs)
            seen.append(os.stat(path).st_size)
            return file

        with patch.object(Path, "open", watched):
            channel._queue_bind("own", "key", "", "first")
            channel._queue_bind("own", "key", "", "second")
        assert [each.queue for each in channel.get_table("own")] == ["second", "first"]
    assert seen
    assert 0 not in seen
