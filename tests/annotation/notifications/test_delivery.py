"""What is sent reaches no address that it should not, and says whether another try helps."""

import socket
import ssl
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from smtplib import SMTPRecipientsRefused, SMTPServerDisconnected

import pytest
from pytest_django import Settings

from annotation.notifications import delivery
from tests.refusals import refused


def test_a_server_that_is_away_is_tried_again(
    settings: Settings,
) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE = True
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        # Held until the end, and nobody listens: no other process can take it and answer.
        port = free.getsockname()[1]
        with refused("webhook.silent", kind=delivery.TemporaryError):
            delivery.post(f"http://127.0.0.1:{port}/", b"{}", secret="s")


def test_a_certificate_that_nobody_vouches_for_is_refused(
    settings: Settings, tmp_path: Path
) -> None:
    settings.WEBHOOK_ALLOW_PRIVATE, settings.WEBHOOK_TIMEOUT_SECONDS = True, 60
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost"]
    made += ["-keyout", str(key), "-out", str(certificate), "-days", "2"]
    subprocess.run(made, check=True, capture_output=True)
    server = ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        with pytest.raises(delivery.DeliveryError) as caught:
            delivery.post(f"https://localhost:{server.server_port}/", b"{}", secret="s")
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert caught.value.message.code == "webhook.certificate"
    assert not isinstance(caught.value, delivery.TemporaryError)


def test_a_host_without_an_address_is_tried_again() -> None:
    """No name server has a name of that length, or is asked for it."""
    name = "a" * 64
    with refused("webhook.unknown-host", kind=delivery.TemporaryError):
        delivery.post(f"https://{name}.org/", b"{}", secret="s")


@pytest.mark.parametrize(
    ("problem", "is_temporary"),
    [
        (SMTPServerDisconnected(), True),
        (ConnectionRefusedError(), True),
        (SMTPRecipientsRefused({"a@b": (550, b"no")}), False),
        (SMTPRecipientsRefused({"a@b": (450, b"later")}), True),
    ],
)
def test_mail_servers_say_whether_another_try_helps(
    monkeypatch: pytest.MonkeyPatch, problem: Exception, is_temporary: bool
) -> None:
    def fail(*_: object) -> None:
        raise problem

    monkeypatch.setattr(delivery, "send_mail", fail)
    with pytest.raises(delivery.DeliveryError) as caught:
        delivery.mail("s", "t", ["a@b"])
    assert isinstance(caught.value, delivery.TemporaryError) is is_temporary


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/",
        "http://localhost:6379/",
        "http://[::1]/",
        "http://10.1.2.3/",
        "http://192.168.0.1/",
        "http://169.254.169.254/latest/meta-data/",
        "http://0.0.0.0/",
        "http://2130706433/",
        "http://127.1/",
        "http://[::ffff:127.0.0.1]/",
        "http://[fe80::1]/",
        "http://[fd00::1]/",
        "http://[64:ff9b::a00:1]/",
        "http://[2002:7f00:1::]/",
        "http://100.64.0.1/",
        "http://224.0.0.1/",
        "http://192.0.0.9/",
        "http://192.0.0.192/",
        "http://[::ffff:192.0.0.10]/",
        "http://192.88.99.1/",
        "http://[3fff::1]/",
        "http://[2002:c058:6301::]/",
        "http://0x7f.1/",
        "http://0177.0.0.1/",
        "http://017700000001/",
        "http://127。0。0。1/",
        "http://[64:ff9b:1::808:808]/",
    ],
)
def test_no_webhook_into_our_own_network(url: str) -> None:
    with pytest.raises(delivery.DeliveryError) as caught:
        delivery.post(url, b"{}", secret="s")
    assert caught.value.message.code == "webhook.private"
    assert not isinstance(caught.value, delivery.TemporaryError)


@pytest.mark.parametrize(
    "url",
    [
        "http://example.org/\r\nX: 1",
        "http://exa\tmple.org/",
        "http://example.org/a b",
        "\0http://a/",
        "http://exa\x85mple.org/",
        "http://exa\u00admple.org/",
        "http://example.org/\u202etxt",
        "http://example.org/\u3000",
    ],
)
def test_no_webhook_with_control_characters(url: str) -> None:
    with refused("webhook.characters", kind=delivery.DeliveryError):
        delivery.check_url(url)


@pytest.mark.parametrize("address", ["93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"])
def test_public_addresses_are_public(address: str) -> None:
    assert delivery.is_public(address)


def test_one_private_address_among_public_ones_is_enough_to_refuse(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def both(*_: object, **__: object) -> list[object]:
        return [(0, 0, 0, "", (ip, 80)) for ip in ("93.184.215.14", "10.0.0.1")]

    monkeypatch.setattr(socket, "getaddrinfo", both)
    with refused("webhook.private", kind=delivery.DeliveryError):
        delivery.post("http://rebind.example/", b"{}", secret="s")


@pytest.mark.parametrize(
    "url",
    ["ftp://example.org/", "file:///etc/passwd", "https://", "gopher://x", "http://u:p@example.org",
     "http://example.org:99999/", "not an address"],
)  # fmt: skip
def test_addresses_that_are_none_are_refused(url: str) -> None:
    with pytest.raises(delivery.DeliveryError):
        delivery.post(url, b"{}", secret="s")
