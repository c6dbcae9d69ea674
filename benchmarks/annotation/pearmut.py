"""Pearmut at the same work. PEARMUT_PYTHON names an interpreter that has it.

Everybody posts an answer and asks for the next item, as Pearmut's page does, over one connection.
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


def plant(root: str, *, annotators: int, items: int, is_pool: bool) -> None:
    """A campaign of single segments with a slider, each item a document of its own."""
    info = {"assignment": "single-stream" if is_pool else "task-based", "protocol": "DA"}
    info |= {"users": annotators} if is_pool else {}
    own = [[text(n)] for n in range(items)]
    data = [[text(n)] for n in range(items * annotators)] if is_pool else [own] * annotators
    path = Path(root) / "campaign.json"
    path.write_text(json.dumps({"campaign_id": CAMPAIGN, "info": info, "data": data}))
    subprocess.run(_command("add", str(path)), cwd=root, check=True, capture_output=True)


def _command(*given: str) -> list[str]:
    return [os.environ["PEARMUT_PYTHON"], "-c", "from pearmut.cli import main; main()", *given]


class Pearmut:
    """A server of its own with one campaign; `used` tells its processor seconds."""

    def __init__(self, *, annotators: int, items: int, is_pool: bool) -> None:
        self.root = tempfile.mkdtemp(prefix="pearmut-benchmark-")
        plant(self.root, annotators=annotators, items=items, is_pool=is_pool)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        # Its own runner watches files and logs each request; what serves is the same.
        command = [os.environ["PEARMUT_PYTHON"], "-m", "uvicorn", "pearmut.app:app"]
        command += ["--port", str(self.port), "--log-level", "warning"]
        self.process = subprocess.Popen(command, cwd=self.root)
        for _ in range(300):
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
        score = rng.randint(0, 100)
        given = [{"system": {"score": score, "error_spans": []}}]
        actions = [{"time": time.time() - 5}, {"time": time.time()}]
        payload = {"annotation": given, "actions": actions}
        post("/log-response", item_i=item["info"]["item_i"], payload=payload)  # type: ignore[index]
        item = post("/get-next-item")
        times.append(time.perf_counter() - began)
        if item.get("status") != "ok":
            return


def measure(*, annotators: int, items: int, is_pool: bool) -> tuple[float, float, list[float]]:
    """Answers a second, processor milliseconds an answer, and all times, sorted."""
    server = Pearmut(annotators=annotators, items=items, is_pool=is_pool)
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
