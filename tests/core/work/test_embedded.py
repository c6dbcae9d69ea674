from pathlib import Path

from kombu import Connection

from core.work.brokers import transport_options


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
