"""Hosts with folders of their own and one bucket, on a server of S3's protocol here."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import boto3
import pytest
from django.core.files.storage import storages
from moto.server import ThreadedMotoServer

from config.environment import bucket


@dataclass
class Hosts:
    """`on` makes the code that follows run on a host."""

    on: Callable[[str], None]
    client: Any

    def keys(self) -> set[str]:
        listed = self.client.list_objects_v2(Bucket="files").get("Contents", [])
        return {each["Key"] for each in listed}


@contextmanager
def s3_server() -> Iterator[str]:
    """Yield the address of a server; one serves many tests."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@contextmanager
def two_hosts(
    server: str, settings: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Hosts]:
    """Begin on host "a", with an empty bucket.

    What is trained has one path on all hosts: another host's is moved aside.
    """
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "only-for-tests")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    client = boto3.client("s3", endpoint_url=server)
    client.create_bucket(Bucket="files")
    settings.FILES_S3_BUCKET = "files"
    settings.STORAGES = settings.STORAGES | {"files": bucket("files", server)}
    assert "files" in storages.backends
    settings.TRAINED_DIR = folder / "trained"
    here = ["a"]

    def on(name: str) -> None:
        settings.VAR_DIR = folder / name
        settings.MEDIA_ROOT = folder / name / "media"
        settings.VAR_DIR.mkdir(exist_ok=True)
        if settings.TRAINED_DIR.exists():
            settings.TRAINED_DIR.rename(folder / here[0] / "trained")
        if (folder / name / "trained").exists():
            (folder / name / "trained").rename(settings.TRAINED_DIR)
        here[0] = name

    on("a")
    made = Hosts(on, client)
    yield made
    for key in sorted(made.keys()):
        client.delete_object(Bucket="files", Key=key)
    client.delete_bucket(Bucket="files")
