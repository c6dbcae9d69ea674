"""nginx with touchstone/server/nginx.conf in a configuration like Debian's: logs hold no link."""

import http.client
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from pathlib import Path

import pytest

from annotation.models.people import new_token

CONFIGURATION = Path(__file__).parents[2] / "touchstone" / "server" / "nginx.conf"
HOST = "mt.example.org"
DEBIAN = """
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log crit;
events {{ worker_connections 64; }}
http {{
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
  fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  access_log {folder}/debian.log;
  include {folder}/site.conf;
}}
"""


class App(BaseHTTPRequestHandler):
    """Answers with the headers that it was sent, to `/slow/` when it may."""

    may = threading.Event()

    def do_GET(self) -> None:
        if self.path == "/slow/":
            self.may.wait(60)
        body = str(self.headers).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        pass


@dataclass
class Site:
    folder: Path
    plain: int
    secure: int

    def ask(
        self, path: str, *, is_secure: bool = True, host: str = HOST, **headers: str
    ) -> tuple[int, str]:
        """Return status and body."""
        if is_secure:
            trusting = ssl._create_unverified_context()  # noqa: S323 - its own certificate
            call: http.client.HTTPConnection = http.client.HTTPSConnection(
                "127.0.0.1", self.secure, context=trusting, timeout=30
            )
        else:
            call = http.client.HTTPConnection("127.0.0.1", self.plain, timeout=30)
        with closing(call):
            call.request("GET", path, headers={"Host": host, **headers})
            answer = call.getresponse()
            heads = [answer.headers.get(name, "") for name in ("Location", "Retry-After")]
            return answer.status, "".join(heads) + answer.read().decode()


def free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        port: int = place.getsockname()[1]
    return port


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    app = ThreadingHTTPServer(("127.0.0.1", 0), App)
    threading.Thread(target=app.serve_forever, daemon=True).start()
    site = Site(tmp_path, free_port(), free_port())
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", f"/CN={HOST}", "-days", "2"]
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out"]
    subprocess.run([*made, certificate, *subject], check=True, capture_output=True)
    text = CONFIGURATION.read_text()
    for old, new in {
        "listen 80": f"listen 127.0.0.1:{site.plain}",
        "listen 443": f"listen 127.0.0.1:{site.secure}",
        "limit_conn busy 200": "limit_conn busy 3",
        "127.0.0.1:8000": f"127.0.0.1:{app.server_port}",
        "/etc/ssl/touchstone/fullchain.pem": str(certificate),
        "/etc/ssl/touchstone/privkey.pem": str(key),
        "/var/log/nginx": str(tmp_path),
    }.items():
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "site.conf").write_text(text)
    (tmp_path / "nginx.conf").write_text(DEBIAN.format(folder=tmp_path))
    program = shutil.which("nginx") or "/usr/sbin/nginx"
    arguments = [program, "-p", tmp_path, "-c", tmp_path / "nginx.conf", "-g", "daemon off;"]
    server = subprocess.Popen(arguments, stderr=subprocess.PIPE)
    try:
        for _ in range(600):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", site.secure)) == 0:
                    break
            assert server.poll() is None, server.stderr and server.stderr.read()
            threading.Event().wait(0.05)
        yield site
    finally:
        server.terminate()
        server.communicate()
        app.shutdown()
        app.server_close()


def test_addresses_are_served_and_no_log_holds_a_link(site: Site) -> None:
    tokens = [new_token()[0] for _ in range(3)]
    patterns = ("/a/{}/", "/enter/{}/?x=1", "/login/?next=/password/{}/")
    places = [pattern.format(token) for pattern, token in zip(patterns, tokens, strict=True)]
    for path in places:
        status, said = site.ask(path, Referer=f"https://{HOST}{places[0]}")
        assert status == 200
        assert "X-Forwarded-Proto: https" in said
        status, said = site.ask(path, is_secure=False)
        assert (status, said.startswith(f"https://{HOST}{path}")) == (301, True)
        for is_secure in (True, False):  # another host name gets no answer
            with pytest.raises((http.client.BadStatusLine, ConnectionError)):
                site.ask(path, is_secure=is_secure, host="10.0.0.1")
    logs = {file.name: file.read_text() for file in site.folder.glob("*.log")}
    assert logs["touchstone.log"].count("\n") == 4 * len(places)
    assert "debian.log" not in logs or not logs["debian.log"]
    assert not [name for name, text in logs.items() for token in tokens if token in text]


def test_programs_are_not_redirected_with_a_token_sent_in_clear(site: Site) -> None:
    assert site.ask("/api/campaigns/")[0] == 200
    assert site.ask("/api/campaigns/", is_secure=False)[0] == 403
    assert site.ask("/apiary/", is_secure=False)[0] == 301


def test_what_is_too_large_gets_a_page(site: Site) -> None:
    status, said = site.ask("/testsets/upload/", **{"Content-Length": str(200 * 2**20)})
    assert status == 413
    assert "100 MB" in said


def test_beyond_a_number_of_requests_at_once_the_next_is_refused_at_once(site: Site) -> None:
    App.may.clear()
    with ThreadPoolExecutor(8) as pool:
        waiting = [pool.submit(site.ask, "/slow/") for _ in range(8)]
        refused = [each.result() for each in islice(as_completed(waiting), 5)]
        assert {status for status, _ in refused} == {503}
        assert all(said.startswith("10<!doctype html>") for _, said in refused)
        assert site.ask("/static/css/base.css")[0] == 200
        App.may.set()
        assert sorted(each.result()[0] for each in waiting) == [200] * 3 + [503] * 5
    assert site.ask("/")[0] == 200
