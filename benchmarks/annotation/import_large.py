"""Large imports by a worker: seconds and memory of the web process and of the worker.

    python -m benchmarks.annotation.import_large [SEGMENTS]

Imports a test set with three outputs a segment, and as many judgments as it has segments. Each step
is a process of its own, whose largest memory is compared with what it has before the step. pandas
reads the same files, unchecked.
"""

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("TOUCHSTONE_VAR", tempfile.mkdtemp(prefix="touchstone-benchmark-"))
os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"
os.environ["CELERY_EAGER"] = "no"
os.environ["IMPORT_IN_REQUEST_ROWS"] = "1000"

VAR = Path(os.environ["TOUCHSTONE_VAR"])
WORDS = "harbour river market street morning evening train window paper number light".split()
SYSTEMS = ("a", "b", "c")
SETS, JUDGMENTS = VAR / "set.tsv", VAR / "judgments.tsv"


def write(n: int) -> None:
    rng = random.Random(n)
    with SETS.open("w") as file:
        file.write("\t".join(["segment", "source", *(f"system:{s}" for s in SYSTEMS)]) + "\n")
        for number in range(n):
            texts = [" ".join(rng.choices(WORDS, k=12)) for _ in range(4)]
            file.write("\t".join([str(number), *texts]) + "\n")
    with JUDGMENTS.open("w") as file:
        file.write("annotator\tsegment\tsystem\tscore\n")
        for number in range(n):
            cells = (number % 50, number, SYSTEMS[number % 3], rng.randrange(101))
            file.write("R{}\t{}\t{}\t{}\n".format(*cells))


def memory() -> float:
    """The largest memory until now, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def sign_in() -> object:
    from django.contrib.auth.models import Group, User
    from django.test import Client
    from django.test.utils import setup_test_environment

    setup_test_environment()  # answers say with what pages were rendered
    user, is_new = User.objects.get_or_create(username="admin")
    if is_new:
        user.groups.add(Group.objects.get(name="campaign admin"))
    client = Client(SERVER_NAME="localhost")
    client.force_login(user)
    return client


def send(path: Path) -> None:
    """Do what a page does with a file that the web server has put on disk."""
    from django.contrib.auth.models import User

    from annotation.imports import background, sources
    from annotation.uploads import InputFile, waiting

    user, file = User.objects.get(username="admin"), InputFile.at(path)
    words = {"name": "Large", "source_language": "de", "target_language": "en"}
    assert background.is_large([file])
    if path == SETS:
        blank = dict.fromkeys(("description", "ratio", "lines", "pair"), "")
        token = waiting.keep(waiting.Sent("test-set", {"tables": file}, blank | words), user.pk)
        background.begin(user, token)
        return
    words = {"test_set": "large", "name": "Judged"}
    sent = waiting.Sent(sources.JUDGMENTS, {"tables": file}, words)
    background.begin(user, waiting.keep(sent, user.pk))


def confirm(client: object, path: Path) -> None:
    from annotation.models import FileImport

    row = FileImport.objects.latest("pk")
    preview = client.get(row.get_absolute_url())["Location"]  # type: ignore[attr-defined]
    page = client.get(preview)  # type: ignore[attr-defined]
    assert page.status_code == 200, page.content
    context = page.context["understanding"].tables if path == SETS else []
    forms = [each for each in context if each is not None]
    fields = [(form.add_prefix(n), each) for form in forms for n, each in form.fields.items()]
    client.post(preview, {name: each.initial or "" for name, each in fields})  # type: ignore[attr-defined]


def work() -> None:
    from annotation.imports import background
    from annotation.models import FileImport
    from core.work import working

    working.drain(background.file_imports)
    row = FileImport.objects.latest("pk")
    assert row.state in ("checked", "stored"), (row.state, row.report[:3])


def step(name: str, path: Path) -> None:
    """Do one step in this process, and print what it took."""
    if name == "pandas":
        import pandas

        before, begun, used = memory(), time.perf_counter(), time.process_time()
        pandas.read_csv(path, sep="\t")
    else:
        import django

        django.setup()
        client = None if name in ("check", "store") else sign_in()
        from annotation import doors  # noqa: F401  # what every process has loaded

        before, begun, used = memory(), time.perf_counter(), time.process_time()
        if client is None:
            work()
        else:
            send(path) if name == "send" else confirm(client, path)
    took, grown = time.perf_counter() - begun, memory() - before
    used = time.process_time() - used
    times = f"{took:7.1f} s, of the processor {used:6.1f} s"
    print(f"{path.stem:10s} {name:8s} {times} {before:6.0f} MB + {grown:5.0f} MB", flush=True)


def main() -> None:
    if len(sys.argv) == 3:
        step(sys.argv[1], Path(sys.argv[2]))
        return
    write(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000)
    run = [sys.executable, "-m", "benchmarks.annotation.import_large"]
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], check=True)
    for path in (SETS, JUDGMENTS):
        print(f"{path.stem}: {path.stat().st_size / 1024**2:.0f} MB", flush=True)
        for name in ("pandas", "send", "check", "confirm", "store"):
            subprocess.run([*run, name, str(path)], check=True)


if __name__ == "__main__":
    main()
