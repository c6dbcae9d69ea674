"""Pearmut at the same work. PEARMUT_PYTHON names an interpreter that has it.

Everybody posts an answer and asks for the next item, as Pearmut's page does, over one connection:
with the item itself and the actions of the person in the answer. The server keeps its log of
requests, and of its campaign as much is done beforehand as of ours.
"""

import json
import os
import random
import socket
import subprocess
import tempfile
import threading
import time
from http.client import HTTPConnection
from pathlib import Path

from benchmarks.processes import seconds_of

CAMPAIGN = "benchmark"


def text(n: int) -> dict[str, object]:
    told = f"Sentence {n}: the harbour was quiet all day."
    return {"src": f"源文第{n}句，港口很安静。", "tgt": {"system": told}}


def plant(root: str, *, annotators: int, items: int, pool: int, stored: int) -> None:
    """A campaign of single segments with a slider, each item a document of its own: fixed shares
    of `items` and of what is `stored`, or a pool of that many items."""
    info = {"assignment": "single-stream" if pool else "task-based", "protocol": "DA"}
    info |= {"users": annotators} if pool else {}
    own = [[text(n)] for n in range(items + stored // annotators)]
    data = [[text(n)] for n in range(pool)] if pool else [own] * annotators
    path = Path(root) / "campaign.json"
    path.write_text(json.dumps({"campaign_id": CAMPAIGN, "info": info, "data": data}))
    subprocess.run(_command("add", str(path)), cwd=root, check=True, capture_output=True)
    _answer(root, stored=stored, is_pool=bool(pool))


def _answer(root: str, *, stored: int, is_pool: bool) -> None:
    """Write log and progress as they are after the given number of answers."""
    (path,) = Path(root, "data", "progress").glob("*.json")
    progress = json.loads(path.read_text())
    users, lines = list(progress), []
    for n in range(stored):
        user, item = users[n % len(users)], n if is_pool else n // len(users)
        for one in users if is_pool else [user]:
            progress[one]["progress"][item] = "completed" if one == user else "completed_foreign"
        told = answer(item, 50, [text(item)]) | {"user_id": user, "item_i": item}
        lines.append(json.dumps(told, ensure_ascii=False) + "\n")
    path.write_text(json.dumps(progress, ensure_ascii=False))
    log = Path(root, "data", "annotations", f"{CAMPAIGN}.jsonl")
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("".join(lines))


def answer(item: int, score: int, payload: object) -> dict[str, object]:
    """What the page sends of one slider: it was drawn, moved twice, and sent."""
    now = time.time()
    actions: list[dict[str, object]] = [{"time": now - 5, "action": "load"}]
    for moved in (60, score):
        about = {"action": "score", "index": 0, "model": "system", "value": moved}
        actions.append({"time": now - 2, **about})
    actions.append({"time": now, "action": "submit"})
    given = [{"system": {"score": score, "error_spans": []}}]
    return {"annotation": given, "actions": actions, "item": payload}


def _command(*given: str) -> list[str]:
    return [os.environ["PEARMUT_PYTHON"], "-c", "from pearmut.cli import main; main()", *given]


class Pearmut:
    """A server of its own with one campaign; `used` tells its processor seconds."""

    def __init__(self, *, annotators: int, items: int, pool: int, stored: int) -> None:
        self.root = tempfile.mkdtemp(prefix="pearmut-benchmark-")
        plant(self.root, annotators=annotators, items=items, pool=pool, stored=stored)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        # As its own runner starts it, but on this machine's address alone.
        command = [os.environ["PEARMUT_PYTHON"], "-m", "uvicorn", "pearmut.app:app"]
        self.log = Path(self.root, "requests.log").open("w")  # noqa: SIM115
        self.process = subprocess.Popen(
            [*command, "--port", str(self.port)], cwd=self.root, stdout=self.log, stderr=self.log
        )
        for _ in range(1200):
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                break
            except OSError:
                time.sleep(0.1)
        (progress,) = Path(self.root, "data", "progress").glob("*.json")
        self.users = list(json.loads(progress.read_text()))

    @property
    def used(self) -> float:
        return seconds_of(self.process.pid)

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()
        self.log.close()


def rate(server: Pearmut, user: str, n: int, times: list[float]) -> None:
    connection = HTTPConnection("127.0.0.1", server.port, timeout=60)
    rng = random.Random(user)

    def post(address: str, **fields: object) -> dict[str, object]:
        body = json.dumps({"campaign_id": CAMPAIGN, "user_id": user, **fields})
        connection.request("POST", address, body, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        told = json.loads(answer.read())
        assert answer.status == 200, told
        return told if isinstance(told, dict) else {}

    item = post("/get-next-item")
    for _ in range(n):
        began = time.perf_counter()
        number = item["info"]["item_i"]  # type: ignore[index]
        payload = answer(number, rng.randint(0, 100), item["payload"])
        post("/log-response", item_i=number, payload=payload)
        item = post("/get-next-item")
        times.append(time.perf_counter() - began)
        if item.get("status") != "ok":
            return


def measure(
    *, annotators: int, items: int, pool: int, stored: int
) -> tuple[float, float, list[float]]:
    """Answers a second, processor milliseconds an answer, and all times, sorted."""
    server = Pearmut(annotators=annotators, items=items, pool=pool, stored=stored)
    times: list[float] = []
    try:
        threads = [
            threading.Thread(target=rate, args=(server, user, items, times))
            for user in server.users
        ]
        before, began = server.used, time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds, used = time.perf_counter() - began, server.used - before
    finally:
        server.stop()
    return len(times) / seconds, 1000 * used / len(times), sorted(times)
