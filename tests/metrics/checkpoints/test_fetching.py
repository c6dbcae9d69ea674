"""Fetching from a hub: a small server that answers as the hub's API and its file addresses do."""

import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import huggingface_hub
import pytest
from django.core.management import CommandError, call_command

from metrics.base import MetricError
from metrics.checkpoints import fetching
from tests.refusals import refused

ROOT = Path(__file__).resolve().parents[3]
REVISION = "0123456789abcdef0123456789abcdef01234567"
FILES = {
    "config.json": b'{"num_hidden_layers": 2}',
    "tokenizer.json": b"{}",
    "model.safetensors": bytes(3000),
    "pytorch_model.bin": b"a pickle",
    "README.md": b"# A model",
    "modeling.py": b"import os",
    "onnx/model.onnx": b"o",
}


# Listings of the hub, shortened.
@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (
            [".gitattributes", "README.md", "config.json", "flax_model.msgpack",
             "model.safetensors", "pytorch_model.bin", "tf_model.h5", "tokenizer.json",
             "tokenizer_config.json", "vocab.txt"],
            ["config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json",
             "vocab.txt"],
        ),
        (
            [".gitattributes", "LICENSE", "README.md", "checkpoints/model.ckpt", "hparams.yaml"],
            ["checkpoints/model.ckpt", "hparams.yaml"],
        ),
        (
            ["README.md", "config.json", "pytorch_model.bin", "spm.model", "tokenizer_config.json"],
            ["config.json", "pytorch_model.bin", "spm.model", "tokenizer_config.json"],
        ),
        (
            ["1_Pooling/config.json", "config.json", "model.safetensors", "modules.json",
             "onnx/config.json", "onnx/model.onnx", "openvino/openvino_model.bin",
             "pytorch_model.bin", "training_args.bin", "sentencepiece.bpe.model"],
            ["1_Pooling/config.json", "config.json", "model.safetensors", "modules.json",
             "sentencepiece.bpe.model"],
        ),
        (
            ["config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
             "model.safetensors.index.json", "pytorch_model-00001-of-00002.bin",
             "pytorch_model.bin.index.json"],
            ["config.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
             "model.safetensors.index.json"],
        ),
    ],
    ids=["bert", "comet", "bleurt", "sentence encoder", "in parts"],
)  # fmt: skip
def test_which_files_are_fetched(names: list[str], expected: list[str]) -> None:
    assert fetching.choose(names) == expected


class Hub(BaseHTTPRequestHandler):
    """The two kinds of addresses that huggingface_hub asks."""

    wrong_hash = False

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        if path.startswith("/api/models/acme/x"):
            self.send(json.dumps(self.about()).encode())
        elif path.startswith("/api/models/acme/bare"):
            self.send(json.dumps(self.about() | {"siblings": []}).encode())
        elif path.startswith(f"/acme/x/resolve/{REVISION}/"):
            self.send(FILES[path.split("/", 5)[5]])
        else:
            self.send_response(404)
            self.send_header("X-Error-Code", "RepoNotFound")
            self.send_header("Content-Length", "0")
            self.end_headers()

    def about(self) -> dict[str, Any]:
        siblings = []
        for name, content in FILES.items():
            entry: dict[str, Any] = {"rfilename": name, "size": len(content)}
            if name.endswith(("safetensors", "bin")):
                told = b"other" if self.wrong_hash else content
                digest = hashlib.sha256(told).hexdigest()
                entry["lfs"] = {"sha256": digest, "size": len(content), "pointerSize": 1}
            siblings.append(entry)
        return {"id": "acme/x", "modelId": "acme/x", "sha": REVISION, "siblings": siblings}

    def send(self, content: bytes) -> None:
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("X-Repo-Commit", REVISION)
        self.send_header("ETag", f'"{hashlib.sha1(content).hexdigest()}"')  # noqa: S324
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Hub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()
    Hub.wrong_hash = False


def fetch(tmp_path: Path, name: str, hub: str, **more: str) -> subprocess.CompletedProcess[str]:
    """Run the command; where the hub is, its client learns when it is imported."""
    environment = {
        **os.environ,
        "TOUCHSTONE_MODELS": str(tmp_path / "models"),
        "HF_HOME": str(tmp_path / "home"),
        "HF_ENDPOINT": hub,
        "HF_HUB_OFFLINE": "0",
        # Seconds: the server is a thread of a busy process.
        "HF_HUB_ETAG_TIMEOUT": "300",
        "HF_HUB_DOWNLOAD_TIMEOUT": "300",
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "NO_PROXY": "127.0.0.1",
        **more,
    }
    command = [sys.executable, "manage.py", "models", "--fetch", name, "--skip-checks"]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)


def tree(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_what_arrives_damaged_takes_no_place_and_what_arrives_whole_has_its_hashes(
    tmp_path: Path, hub: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    Hub.wrong_hash = True
    done = fetch(tmp_path, "acme/x", hub)
    assert done.returncode == 1
    assert "model.safetensors was damaged" in done.stderr
    folder = tmp_path / "models" / "acme" / "x"
    assert not folder.parent.exists()
    Hub.wrong_hash = False
    done = fetch(tmp_path, "acme/x", hub)
    assert done.returncode == 0, done.stderr
    assert f"acme/x is in {folder}" in done.stdout
    kept = {"config.json", "tokenizer.json", "model.safetensors"}
    assert tree(tmp_path / "models") == {f"acme/x/{name}" for name in {*kept, "SHA256SUMS"}}
    sums = dict(line.split()[::-1] for line in (folder / "SHA256SUMS").read_text().splitlines())
    assert sums == {name: hashlib.sha256(FILES[name]).hexdigest() for name in kept}
    monkeypatch.setenv("TOUCHSTONE_MODELS", str(tmp_path / "models"))
    with refused("checkpoint.folder-exists", kind=CommandError):
        call_command("models", fetch=["acme/x"])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, hub: str) -> Path:
    """Where checkpoints would go; listings are asked of the hub in this process."""
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", hub)
    monkeypatch.setenv("TOUCHSTONE_MODELS", str(tmp_path / "models"))
    return tmp_path / "models"


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("acme/none", "checkpoint.not-on-hub"),
        ("acme/bare", "checkpoint.no-config"),
        ("a/b/c", "checkpoint.not-a-name"),
        ("../x", "checkpoint.not-a-name"),
        ("/etc", "checkpoint.not-a-name"),
    ],
)
def test_what_cannot_be_fetched_is_refused(folder: Path, name: str, code: str) -> None:
    with pytest.raises(MetricError) as caught:
        fetching.fetch(name, print)
    assert caught.value.message.code == code
    assert caught.value.permanent
    assert not folder.exists()


def test_without_a_folder_nothing_is_fetched(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOUCHSTONE_MODELS", "")
    with pytest.raises(MetricError) as caught:
        fetching.fetch("acme/x", print)
    assert caught.value.message.code == "checkpoint.no-models-folder"


def test_where_no_hub_can_be_reached(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(MetricError) as caught:
        fetching.fetch("acme/x", print)
    assert caught.value.message.code == "checkpoint.hub-unreachable"


def test_a_machine_that_is_told_to_stay_offline(tmp_path: Path) -> None:
    done = fetch(tmp_path, "acme/x", "http://127.0.0.1:9", HF_HUB_OFFLINE="1")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "HF_HUB_OFFLINE=0 python manage.py models --fetch acme/x" in done.stderr
