"""Run the steps of the images in a fresh root, and their commands as Compose does.

Needs root, apt and debootstrap on a Debian machine, and no container engine: the instructions of
`Dockerfile` are read and run by chroot. Web server and worker then run as the image's own user in a
root that is mounted read-only; they can write to the volume and to /tmp alone. The web image's
health check has to pass, and with a worker of the same image the site has to be ready.

    .venv/bin/python -m benchmarks.images FOLDER [web|worker]
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).parents[1]
PORT = 8000  # of the image's health check


def instructions(last: str) -> Iterator[tuple[str, str]]:
    """Yield the instructions of the stages up to `last`."""
    text = (ROOT / "Dockerfile").read_text(encoding="utf-8")
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"\\\n", " ", text)
    for line in filter(str.strip, text.splitlines()):
        word, _, rest = line.partition(" ")
        if word == "FROM" and last == "web" and "AS web" not in rest:
            return
        yield word, rest.strip()


class Image:
    """A folder as the root of a system."""

    def __init__(self, root: Path) -> None:
        self.root, self.user, self.folder = root, "root", "/"
        self.variables = {
            "DEBIAN_FRONTEND": "noninteractive",
            "PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin",
            "HOME": "/root",
        }

    def make(self) -> None:
        """Unpack Debian with Python where the official image has it."""
        if not (self.root / "usr/bin/apt-get").exists():
            subprocess.run(["debootstrap", "--variant=minbase", "bookworm", self.root], check=True)
        for name in ("resolv.conf", "pip.conf", "hosts"):
            if (source := Path("/etc") / name).exists():
                shutil.copy(source, self.root / "etc" / name)
        # Under a name of its own: the package of certificates writes the usual one again.
        if (bundle := Path("/etc/ssl/certs/ca-certificates.crt")).exists():
            shutil.copy(bundle, self.root / "etc/host.crt")
            self.variables["PIP_CERT"] = "/etc/host.crt"
        packages = "python3.11-venv ca-certificates"
        self.run(f"apt-get update -qq && apt-get install -qq --no-install-recommends {packages}")
        self.run("python3.11 -m venv /usr/local")

    def run(self, command: str, **variables: str) -> None:
        """Run a shell's command in the root."""
        subprocess.run(self._words(["sh", "-c", command], variables), check=True)

    def start(self, command: list[str], **variables: str) -> "subprocess.Popen[bytes]":
        """Start a program in the root."""
        return subprocess.Popen(self._words(command, variables))

    def _words(self, command: list[str], more: dict[str, str]) -> list[str]:
        variables = [f"{name}={value}" for name, value in (self.variables | more).items()]
        script = f'cd {self.folder} && exec "$@"'
        chroot = ["chroot", f"--userspec={self.user}", str(self.root)]
        return [*chroot, "env", "-i", *variables, "sh", "-c", script, "sh", *command]

    @contextmanager
    def read_only(self) -> Iterator[None]:
        """Mount the root read-only, but for the volume and /tmp, as `read_only` of Compose."""
        own, bind = str(self.root), ["mount", "-o", "bind"]
        subprocess.run([*bind, own, own], check=True)
        try:
            volume = f"{own}/var/lib/touchstone"
            subprocess.run([*bind, volume, volume], check=True)
            for place in ("tmp", "dev/shm"):
                memory = ["mount", "-t", "tmpfs", "-o", "mode=1777", "tmpfs", f"{own}/{place}"]
                subprocess.run(memory, check=True)
            subprocess.run(["mount", "-o", "remount,bind,ro", own], check=True)
            yield
        finally:
            subprocess.run(["umount", "--recursive", own], check=True)

    def follow(self, last: str) -> list[str]:
        """Follow the image's instructions; return its command."""
        command: list[str] = []
        self.check: list[str] = []
        for word, rest in instructions(last):
            print(word, rest[:90], flush=True)
            if word == "ENV":
                self.variables |= dict(pair.split("=", 1) for pair in rest.split())
            elif word == "RUN":
                self.run(rest)
            elif word == "WORKDIR":
                self.folder = rest
                (self.root / rest.lstrip("/")).mkdir(parents=True, exist_ok=True)
            elif word == "COPY":
                self._copy(*rest.split())
            elif word == "USER":
                self.user, self.variables["HOME"] = rest, f"/home/{rest}"
            elif word == "CMD":
                command = json.loads(rest)
            elif word == "HEALTHCHECK":
                self.check = [] if rest == "NONE" else json.loads(rest.removeprefix("CMD "))
            elif word not in ("FROM", "VOLUME", "EXPOSE"):
                raise SystemExit(f"Unknown instruction: {word}")
        return command

    def _copy(self, source: str, target: str) -> None:
        """Copy what is tracked, as .dockerignore leaves it."""
        listed = subprocess.run(
            ["git", "ls-files", "-z", source], cwd=ROOT, capture_output=True, check=True, text=True
        )
        for name in filter(None, listed.stdout.split("\0")):
            path = self.root / self.folder.lstrip("/") / name
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, path)


def serve(image: Image, command: list[str]) -> None:
    """Start the image's command as its user, and wait until it answers."""
    own = {"SECRET_KEY": "a key for this one start of the image, no other"}
    image.run("! touch manage.py 2>/dev/null && ! touch /home/touchstone/x 2>/dev/null")
    image.run('[ "$(id -un)" = touchstone ]')
    image.run("python -m touchstone migrate -v0", **own)
    server = image.start([*command, "--port", str(PORT)], **own)
    worker = image.start(["python", "-m", "touchstone", "worker"], **own)
    try:
        page = fetch("login/", server)
        [static] = set(re.findall(r'href="/(static/css/base\.[0-9a-f]+\.css)"', page))
        assert fetch(static, server)
        assert image.start(image.check, **own).wait() == 0, "The health check fails."
        print(fetch("readyz", worker))
    finally:
        for process in (server, worker):
            process.terminate()
        for process in (server, worker):
            process.wait(timeout=120)


def fetch(address: str, process: "subprocess.Popen[bytes]") -> str:
    """Return what the web server answers, once it does with 200; AssertionError if one ended."""
    problem: Exception | None = None
    for _ in range(180):
        try:
            with urlopen(f"http://127.0.0.1:{PORT}/{address}", timeout=30) as answer:
                return str(answer.read().decode())
        except (URLError, ConnectionError, TimeoutError) as error:
            assert process.poll() is None, f"A program ended with {process.returncode}."
            problem = error
            time.sleep(1)
    raise SystemExit(f"{address}: {problem}")


def work(image: Image, command: list[str]) -> None:
    """Start the worker's command as its user, and stop it when it is ready."""
    own = {"SECRET_KEY": "a key for this one start of the image, no other"}
    image.run("python -m touchstone migrate -v0", **own)
    process = image.start([*command, "--queues", "cpu"], **own)
    try:
        time.sleep(60)
        assert process.poll() is None, "The worker ended."
    finally:
        process.terminate()
        process.wait(timeout=120)


def main(folder: Path, last: str = "web") -> None:
    """Build and run one image."""
    if os.geteuid():
        raise SystemExit("The steps of the image need root.")
    image = Image(folder / "root")
    image.make()
    began = time.monotonic()
    command = image.follow(last)
    with image.read_only():
        (serve if last == "web" else work)(image, command)
    print(f"The {last} image's steps and start: {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main(Path(sys.argv[1]), *sys.argv[2:])
