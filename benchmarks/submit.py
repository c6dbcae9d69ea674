"""What a submit costs over HTTP: one annotator's median, then eight at once.

    python -m benchmarks.submit [--items 100]

Starts gunicorn (2 processes x 4 threads) on a free port over a temporary SQLite file, or over
DATABASE_URL, and talks to it as the page's script does: post the answer, get the next item.
"""

import argparse
import json
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from http.client import HTTPConnection
from urllib.parse import urlencode

os.environ["TOUCHSTONE_VAR"] = tempfile.mkdtemp(prefix="touchstone-benchmark-")
os.environ.setdefault("SECRET_KEY", "benchmark")
os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"

import django

django.setup()

from django.core.management import call_command

from annotation.campaigns import add_annotators, open_campaign
from annotation.models import Judgment
from tests.world import make_campaign, make_test_set

ANNOTATORS = 8


class Annotator:
    """A browser: keeps cookies, submits the form of the card it was given."""

    def __init__(self, port: int, token: str) -> None:
        self.connection = HTTPConnection("127.0.0.1", port)
        self.cookies: dict[str, str] = {}
        self.times: list[float] = []
        address = f"/a/{token}/"
        while True:
            status, location, body = self.ask("GET", address)
            if status != 302:
                break
            address = location
        self.address, self.card = address, body

    def ask(self, method: str, address: str, fields: dict[str, str] | None = None):
        headers = {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
        if fields:
            headers |= {
                "Accept": "application/json",
                "Content-Type": "application/x-www-form-urlencoded",
                "X-CSRFToken": self.cookies["csrftoken"],
            }
        self.connection.request(method, address, urlencode(fields or {}), headers)
        response = self.connection.getresponse()
        for cookie in response.msg.get_all("Set-Cookie") or []:
            name, _, value = cookie.split(";")[0].partition("=")
            self.cookies[name] = value
        return response.status, response.headers.get("Location", ""), response.read().decode()

    def rate(self, n: int) -> None:
        for number in range(n):
            fields = {
                name: re.search(rf'name="{name}" value="([^"]*)"', self.card).group(1)
                for name in ("revision", "started")
            }
            fields |= {"score": str(number % 101), "submit_key": str(uuid.uuid4())}
            began = time.perf_counter()
            status, _, body = self.ask("POST", self.address, fields)
            self.times.append(time.perf_counter() - began)
            answer = json.loads(body)
            assert status == 200, body
            self.address, self.card = answer["next"], answer.get("html", "")
            if not self.card:
                return


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_for(port: int) -> None:
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server did not start")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=100)
    n = parser.parse_args().items
    call_command("migrate", verbosity=0)
    call_command("collectstatic", interactive=False, verbosity=0)
    test_set = make_test_set("sea", segments=n // 2, systems=("a", "b"))
    campaign = make_campaign(test_set, "sea", annotators_per_item=ANNOTATORS + 1)
    tokens = [one.token for one in add_annotators(campaign=campaign, links=ANNOTATORS + 1)]
    open_campaign(campaign=campaign)
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}",
         "--workers", "2", "--threads", "4", "--log-level", "warning"]
    )  # fmt: skip
    try:
        wait_for(port)
        alone = Annotator(port, tokens[0])
        alone.rate(n)
        crowd = [Annotator(port, token) for token in tokens[1:]]
        threads = [threading.Thread(target=one.rate, args=(n,)) for one in crowd]
        began = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        seconds = time.perf_counter() - began
    finally:
        server.terminate()
        server.wait()
    times = sorted(t for one in crowd for t in one.times)
    print(f"one annotator: median {1000 * statistics.median(alone.times):.1f} ms over {n} items")
    print(f"  first ten {1000 * statistics.median(alone.times[:10]):.1f} ms, "
          f"last ten {1000 * statistics.median(alone.times[-10:]):.1f} ms")  # fmt: skip
    print(f"{ANNOTATORS} annotators: {len(times) / seconds:.0f} submits/s, median "
          f"{1000 * statistics.median(times):.1f} ms, worst {1000 * times[-1]:.0f} ms")  # fmt: skip
    stored = Judgment.objects.filter(is_current=True).count()
    print(f"stored {stored}, sent {len(alone.times) + len(times)}")
    assert stored == len(alone.times) + len(times)


if __name__ == "__main__":
    main()
