"""`touchstone-client`: the way from files to results on the command line."""

from __future__ import annotations

import argparse
import csv
import json
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import httpx

from touchstone_client.client import IMPORTS, Touchstone
from touchstone_client.requests import TouchstoneError
from touchstone_client.tables import Table
from touchstone_client.waiting import WaitError

Command = Callable[[Touchstone, argparse.Namespace], None]


def main(arguments: Sequence[str] | None = None, **options: Any) -> int:
    """Run one command; return 1 if the server refused it."""
    given = _parser().parse_args(arguments)
    try:
        with (
            Touchstone(
                given.url, given.token, wait_limit=given.wait_limit, **options
            ) as touchstone,
            warnings.catch_warnings(),
        ):
            # After the line of the progress bar.
            warnings.showwarning = lambda text, *_: print(f"\n{text}", file=sys.stderr)
            given.command(touchstone, given)
    except (TouchstoneError, ValueError, OSError, httpx.HTTPError) as error:
        print(f"\n{error}" if isinstance(error, WaitError) else error, file=sys.stderr)
        return 1
    return 0


def _upload(touchstone: Touchstone, given: argparse.Namespace) -> None:
    made = touchstone.upload(
        given.name, given.source_language, given.target_language,
        source=given.source, references=given.reference, documents=given.documents,
        systems=given.system, tables=given.table, project=given.project, dry_run=given.dry_run,
    )  # fmt: skip
    _print_json(made)


def _import(touchstone: Touchstone, given: argparse.Namespace) -> None:
    options = {"test_set": given.test_set, "dry_run": given.dry_run, **_settings(given)}
    _print_json(touchstone.import_files(given.kind, given.file, **options))


def _create(touchstone: Touchstone, given: argparse.Namespace) -> None:
    _print_json(touchstone.create_campaign(given.test_set, **_settings(given)).facts)


def _change(touchstone: Touchstone, given: argparse.Namespace) -> None:
    _print_json(touchstone.campaign(given.campaign).change(**_settings(given)).facts)


def _settings(given: argparse.Namespace) -> dict[str, Any]:
    return dict(_setting(each) for each in given.set)


def _setting(text: str) -> tuple[str, Any]:
    name, sign, value = text.partition("=")
    if not sign:
        raise ValueError(f"{text}: write NAME=VALUE.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _open_file(touchstone: Touchstone, given: argparse.Namespace) -> None:
    made = touchstone.open_file(given.file, media=given.media, open=not given.draft)
    _print_rows(made.links)


def _people(touchstone: Touchstone, given: argparse.Namespace) -> None:
    _print_rows(touchstone.campaign(given.campaign).add_annotators(given.count))


def _open(touchstone: Touchstone, given: argparse.Namespace) -> None:
    _print_json(touchstone.campaign(given.campaign).open().facts)


def _close(touchstone: Touchstone, given: argparse.Namespace) -> None:
    _print_json(touchstone.campaign(given.campaign).close().facts)


def _score(touchstone: Touchstone, given: argparse.Namespace) -> None:
    runs = touchstone.start_runs(given.test_set, given.metric)
    if given.wait:
        runs = touchstone.wait(runs)
    names = ("id", "metric", "status", "done", "total", "failed")
    _print_rows({name: run[name] for name in names} for run in runs)


def _train(touchstone: Touchstone, given: argparse.Namespace) -> None:
    job = touchstone.start_training(
        given.kind, given.name, corpora=given.corpus, **_settings(given)
    )
    _print_json(touchstone.wait([job], of="jobs")[0] if given.wait else job)


def _judgments(touchstone: Touchstone, given: argparse.Namespace) -> None:
    _print_rows(touchstone.campaign(given.campaign).judgments())


def _results(touchstone: Touchstone, given: argparse.Namespace) -> None:
    _print_rows(touchstone.campaign(given.campaign).table(given.page))


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=1, ensure_ascii=False))


def _print_rows(rows: Iterable[dict[str, Any]]) -> None:
    """Print rows as CSV; what a cell cannot hold is JSON in it."""
    table = rows if isinstance(rows, Table) else Table(rows)
    writer = csv.DictWriter(sys.stdout, table.columns)
    if table.columns:
        writer.writeheader()
    for row in table:
        cells = {n: json.dumps(v) if isinstance(v, dict | list) else v for n, v in row.items()}
        writer.writerow(cells)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="touchstone-client", description=__doc__)
    parser.add_argument("--url", default="", help="address of the server; TOUCHSTONE_URL")
    parser.add_argument(
        "--token", default="", help="better in TOUCHSTONE_TOKEN: others see command lines"
    )
    parser.add_argument(
        "--wait-limit", type=float, metavar="SECONDS", help="longest wait for the server's workers"
    )
    verbs = parser.add_subparsers(required=True, metavar="VERB")

    def verb(name: str, command: Command, text: str) -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=text, description=text)
        added.set_defaults(command=command)
        return added

    def with_settings(added: argparse.ArgumentParser, text: str) -> None:
        added.add_argument(
            "--set", nargs="+", action="extend", default=[], metavar="NAME=VALUE", help=text
        )

    upload = verb("upload", _upload, "Store a test set.")
    upload.add_argument("name")
    upload.add_argument("source_language")
    upload.add_argument("target_language")
    upload.add_argument("--source", help="plain text, one segment per line")
    upload.add_argument("--documents", help="one document id per line of the source")
    for name in ("reference", "system", "table"):
        upload.add_argument(f"--{name}", nargs="+", action="extend", default=[], metavar="FILE")
    upload.add_argument("--project", default="", help="short name of the project of a new test set")
    upload.add_argument("--dry-run", action="store_true", help="check the files only")

    bring_in = verb("import", _import, "Import what was computed or collected elsewhere.")
    bring_in.add_argument("kind", choices=IMPORTS)
    bring_in.add_argument("file", nargs="+")
    bring_in.add_argument("--test-set", help="short name of the test set")
    bring_in.add_argument("--dry-run", action="store_true", help="check the files only")
    with_settings(bring_in, 'choices, such as name=MQM or columns={"seg_id":"segment"}')

    create = verb("create", _create, "Store a campaign over a test set as a draft.")
    create.add_argument("test_set")
    with_settings(create, "settings, such as annotators_per_item=2")

    change = verb("change", _change, "Change settings of a draft.")
    change.add_argument("campaign")
    with_settings(change, "settings, such as annotators_per_item=2")

    from_file = verb("open-file", _open_file, "Store and open a campaign file; print its links.")
    from_file.add_argument("file")
    from_file.add_argument("--media", nargs="+", action="extend", default=[], metavar="FILE")
    from_file.add_argument("--draft", action="store_true", help="do not open it")

    people = verb("people", _people, "Add annotators and print their personal links.")
    people.add_argument("campaign")
    people.add_argument("count", type=int)

    score = verb("score", _score, "Start metric runs on a test set.")
    score.add_argument("test_set")
    score.add_argument("metric", nargs="+")
    score.add_argument("--wait", action="store_true", help="until all runs have ended")

    train = verb("train", _train, "Start a training.")
    train.add_argument("kind")
    train.add_argument("name")
    train.add_argument("--corpus", nargs="+", action="extend", default=[], metavar="NAME")
    train.add_argument("--wait", action="store_true", help="until it has ended")
    with_settings(train, "options of the kind, such as epochs=3")

    for name, command, text in (
        ("open", _open, "Open a campaign."),
        ("close", _close, "Close a campaign."),
        ("judgments", _judgments, "Print the judgments of a campaign as CSV."),
        ("results", _results, "Print the table of a result page as CSV."),
    ):
        added = verb(name, command, text)
        added.add_argument("campaign")
        if name == "results":
            added.add_argument("page", nargs="?", default="correlations")
    return parser
