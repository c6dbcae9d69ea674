"""A Touchstone server: test sets, campaigns and metric runs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TextIO

from touchstone_client.campaigns import Campaign
from touchstone_client.requests import Files, Session
from touchstone_client.tables import Table, read_csv

Paths = Iterable[str | Path]
ENDED = frozenset({"done", "failed", "cancelled"})
POLL_SECONDS = 2.0
Progress = Callable[[int, int], None]
# What is imported, and the field of its files.
IMPORTS = {"judgments": "tables", "human-scores": "tables", "metric-scores": "files",
           "metric-spans": "tables"}  # fmt: skip


class Touchstone:
    """A server, by its address and a token from the page of your account.

    By default they are read from TOUCHSTONE_URL and TOUCHSTONE_TOKEN.
    """

    def __init__(self, url: str = "", token: str = "", **options: Any) -> None:
        url = url or os.environ.get("TOUCHSTONE_URL", "")
        token = token or os.environ.get("TOUCHSTONE_TOKEN", "")
        if not url or not token:
            raise ValueError("Give the address of the server and a token, or set TOUCHSTONE_URL "
                             "and TOUCHSTONE_TOKEN.")  # fmt: skip
        self.session = Session(url, token, **options)

    def __enter__(self) -> Touchstone:
        """Return itself, to be closed at the end of a `with` block."""
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections to the server."""
        self.session.http.close()

    def upload(
        self,
        name: str,
        source_language: str,
        target_language: str,
        *,
        source: str | Path | None = None,
        references: Paths = (),
        documents: str | Path | None = None,
        systems: Paths = (),
        tables: Paths = (),
        recordings: Paths = (),
        columns: Mapping[str, Mapping[str, str]] | None = None,
        skip: Sequence[str] = (),
        project: str = "",
        dry_run: bool = False,
        **words: Any,
    ) -> dict[str, Any]:
        """Store a test set, or add to the one of this name; return it.

        Plain text has one segment per line: `source`, `references` and one file per system.
        `tables` have everything in columns; `columns` names the fields of columns by file.
        `project` is the short name of the project of a new test set. With `dry_run`, nothing is
        stored, and the answer has the preview and all problems.
        """
        single = [("source", source), ("documents", documents)]
        many = {"references": references, "systems": systems, "tables": tables,
                "recordings": recordings}  # fmt: skip
        files: Files = [
            *((role, path) for role, path in single if path is not None),
            *((role, path) for role, paths in many.items() for path in paths),
        ]
        values = {
            "name": name,
            "source_language": source_language,
            "target_language": target_language,
            "columns": json.dumps(columns) if columns else None,
            "skip": list(skip) or None,
            "project": project or None,
            "dry_run": dry_run,
            **words,
        }
        answer: dict[str, Any] = self.session.upload("/api/test-sets/", values, files)
        first: Any = next(iter(answer.get("test_sets", ())), {})
        if isinstance(first, str):  # A worker stored it, and answers with its short name.
            first = self.session.get(f"/api/test-sets/{first}/")
        return {**first, "problems": answer["problems"]}

    def test_sets(self) -> Table:
        """Return all test sets that you can read."""
        return self.session.table("/api/test-sets/")

    def campaigns(self) -> Table:
        """Return all campaigns that you can read."""
        return self.session.table("/api/campaigns/")

    def campaign(self, slug: str) -> Campaign:
        """Return a campaign by its short name."""
        return Campaign(self.session, self.session.get(f"/api/campaigns/{slug}/"))

    def create_campaign(self, test_set: str | Mapping[str, Any], **settings: Any) -> Campaign:
        """Store a draft over a test set.

        `settings` are those of the page, such as `protocol` or `annotators_per_item`; the others
        are as the preset proposes.
        """
        values = {"test_set": _slug(test_set), **settings}
        return Campaign(self.session, self.session.post("/api/campaigns/", values))

    def open_file(
        self, path: str | Path, *, media: Paths = (), open: bool = False, **options: Any
    ) -> Campaign:
        """Store a campaign from one file, with its annotators; `open` also opens it."""
        files: Files = [("file", path), *(("media", each) for each in media)]
        made = self.session.upload("/api/campaigns/", {"open": open, **options}, files)
        for stored in made.get("results", ()):  # A worker stored it, and answers with its name.
            made |= self.session.get(f"/api/campaigns/{stored['slug']}/")
        return Campaign(self.session, made)

    def start_runs(
        self,
        test_set: str | Mapping[str, Any],
        metrics: Sequence[str],
        *,
        systems: Sequence[str] = (),
        **options: Any,
    ) -> list[dict[str, Any]]:
        """Start one run per metric; return them with identical ones that are active already."""
        values = {
            "test_set": _slug(test_set),
            "metrics": list(metrics),
            "systems": list(systems) or None,
            **options,
        }
        started = self.session.post("/api/runs/", values)
        return [*started["runs"], *started["active"]]

    def run(self, number: int) -> dict[str, Any]:
        """Return a run."""
        found: dict[str, Any] = self.session.get(f"/api/runs/{number}/")
        return found

    def add_corpus(
        self,
        name: str,
        source_language: str,
        target_language: str,
        file: str | Path,
        target_file: str | Path | None = None,
        **options: Any,
    ) -> dict[str, Any]:
        """Clean and store parallel text for trainings: one file, or one for each side."""
        sides = [("file", file), ("target_file", target_file)]
        files: Files = [(field, path) for field, path in sides if path is not None]
        values = {"name": name, "source_language": source_language,
                  "target_language": target_language, **options}  # fmt: skip
        stored: dict[str, Any] = self.session.upload("/api/corpora/", values, files)
        return stored

    def start_training(
        self, kind: str, name: str, *, corpora: Sequence[str] = (), **options: Any
    ) -> dict[str, Any]:
        """Start a training; `options` are those of its kind."""
        values = {"kind": kind, "name": name, "corpora": list(corpora), "options": options}
        job: dict[str, Any] = self.session.post("/api/jobs/", values)
        return job

    def start_translations(
        self, test_set: str | Mapping[str, Any], model: str | int, name: str, **options: Any
    ) -> list[dict[str, Any]]:
        """Start one translation of a test set per length ratio, such as `ratios="0.8, 0.5"`.

        `model` is the number of a training, a name on the Hugging Face hub, or a folder.
        """
        values = {"test_set": _slug(test_set), "model": str(model), "name": name, **options}
        started: list[dict[str, Any]] = self.session.post("/api/translations/", values)[
            "translations"
        ]
        return started

    def wait(
        self,
        rows: Iterable[Mapping[str, Any]],
        *,
        of: str = "runs",
        progress: Progress | None = None,
        poll: float = POLL_SECONDS,
        timeout: float | None = None,
    ) -> Table:
        """Return runs once all of them have ended, or what else `of` names: jobs or translations.

        `progress` is called with the outputs that are scored and their number, or with the jobs
        that have ended and their number; by default, a bar is shown on standard error.

        If no worker takes them, a `NoWorkerWarning` says what to start. After `timeout` seconds, by
        default the client's `wait_limit`, raises WaitError; they stay on the server.
        """
        wait = self.session.wait(timeout)
        show = progress or Bar(sys.stderr, "outputs scored" if of == "runs" else f"{of} ended")
        numbers = [row["id"] for row in rows]
        while True:
            found = Table(self.session.get(f"/api/{of}/{number}/") for number in numbers)
            ended = [row["status"] in ENDED for row in found]
            if of == "runs":
                n_done = sum(row["done"] + row["failed"] for row in found)
                show(n_done, sum(row["total"] for row in found))
            else:
                show(sum(ended), len(ended))
            if all(ended):
                return found or Table((), self.session.columns(f"/api/{of}/0/"))
            queued = [row for row in found if row["status"] == "queued"]
            places = [row.get("turn") or row for row in queued]
            queues = {each["queue"] for each in places if "queue" in each}
            wait.pause(poll, queues, partial(_lacking, queued))

    def cancel(self, row: Mapping[str, Any], *, of: str = "runs") -> dict[str, Any]:
        """Cancel a run, or a job or translation."""
        ended: dict[str, Any] = self.session.post(f"/api/{of}/{row['id']}/cancel/")
        return ended

    def read(self, address: str) -> Table:
        """Return the rows of a page's CSV file, by its address, once it is computed."""
        return read_csv(self.session.text(address))

    def import_scores(
        self, test_set: str | Mapping[str, Any], files: Paths, **options: Any
    ) -> dict[str, Any]:
        """Import metric scores that were computed elsewhere."""
        return self.import_files("metric-scores", files, test_set=_slug(test_set), **options)

    def import_spans(
        self, test_set: str | Mapping[str, Any], tables: Paths, name: str, **options: Any
    ) -> dict[str, Any]:
        """Import error spans that a metric found elsewhere."""
        options |= {"test_set": _slug(test_set), "name": name}
        return self.import_files("metric-spans", tables, **options)

    def import_judgments(self, tables: Paths, **options: Any) -> dict[str, Any]:
        """Import judgments that were collected elsewhere."""
        return self.import_files("judgments", tables, **options)

    def import_human_scores(self, tables: Paths, **options: Any) -> dict[str, Any]:
        """Import published scores of segments and systems."""
        return self.import_files("human-scores", tables, **options)

    def import_files(self, kind: str, paths: Paths, **options: Any) -> dict[str, Any]:
        """Import files of a kind of `IMPORTS`; `options` are those of the API."""
        encoded = {n: json.dumps(v) if isinstance(v, dict) else v for n, v in options.items()}
        files: Files = [(IMPORTS[kind], path) for path in paths]
        answer: dict[str, Any] = self.session.upload(f"/api/imports/{kind}/", encoded, files)
        return answer


class Bar:
    """A progress bar on one line."""

    width = 30

    def __init__(self, stream: TextIO, counted: str) -> None:
        self.stream, self.counted = stream, counted

    def __call__(self, done: int, total: int) -> None:
        """Draw the bar."""
        share = done / total if total else 0.0
        filled = "#" * round(share * self.width)
        end = "\n" if total and done >= total else ""
        self.stream.write(f"\r[{filled:<{self.width}}] {done} of {total} {self.counted}{end}")
        self.stream.flush()


def _slug(test_set: str | Mapping[str, Any]) -> str:
    return test_set if isinstance(test_set, str) else str(test_set["slug"])


def _lacking(runs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return what the hosts of workers lack for runs that no host can compute."""
    stuck = [(run, run["turn"]["hosts"]) for run in runs if run.get("turn")]
    lines = [
        f"{run['metric']} cannot run on {host}: {reason['text']}"
        for run, hosts in stuck
        if hosts["is_stuck"]
        for host, reasons in hosts["lacking"].items()
        for reason in reasons
    ]
    return list(dict.fromkeys(lines))
