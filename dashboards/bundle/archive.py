"""Write a bundle: data files, the numbers computed from them, manifest, README, zip."""

import hashlib
import json
import zipfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from shutil import copyfileobj
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import msgspec

from annotation.exports.tables import EPOCH
from annotation.filters import Filters
from annotation.models import Campaign
from core.caching import forget_memos
from dashboards.bundle.content import Content, read_content
from dashboards.bundle.files import data_files
from dashboards.bundle.manifest import BundleTable, expected, manifest_of, tables_of
from dashboards.documents.computing import give_back
from dashboards.documents.reasons import Trust
from dashboards.trust import verdict
from dashboards.trust.shown import lines
from metaeval.documents import units_message as units
from metaeval.messages import Message
from metaeval.replication import forget_files

# Write the README and the script of a bundle.

TEXT = """# {name}: replication bundle

{trust}

The data behind the tables of this campaign, and the commands that compute the tables again.

## Reproduce

You need Touchstone's source and Python 3.11 with numpy and scipy; no database, no models:

    python -m metaeval reproduce PATH

where PATH is the zip file or this folder. The command checks the files against the sums in
`manifest.json`, recomputes every table and compares every number bit for bit. It exits with 0 if
all numbers are equal, and with 1 and a list of differences otherwise. With other versions of numpy
or scipy, or on another kind of processor, the last digit of a sum may differ; then use
`--tolerance 1e-12` to ignore rounding. To compute single tables, run inside this folder
(`reproduce.sh` runs all):

{commands}

## Files

- `manifest.json`: settings, seeds, versions, metric signatures, SHA-256 of every file; on which
  processors, devices and builds of libraries scores (`computed_on`) and tables (`builds`) were
  computed.
- `judgments.tsv`: current judgments in each annotator's order, without practice; `is_target` marks
  those used for human scores, `seconds` is the server's time, `item`, `partner` and `output` are
  numbers that identify rows. `document` is given where a document has several segments.
  `annotators.tsv`: public names; excluded annotators are not used in any number.
- `segments.tsv`: sources and references (separated by ` ||| `); `line` is the position in the files
  of `mt-metrics-eval/`, which keep documents together. Tabs and line breaks inside texts are
  blanks.
- `scores.tsv`: human score and every metric, with the metric's own sign, of every output of the
  systems that metrics are compared on; empty where there is none. Human translations
  (`human_systems` of `manifest.json`) are included only if the filters include them. `document` is
  the number of the first segment of a segment's document: intervals and tests are over documents
  if this column exists, otherwise over segments. `counts/`: the summed counts behind corpus scores.
- `metrics.tsv`: keys, labels and directions of the metrics, and whether their scores were computed
  by Touchstone or imported. `metric-systems.tsv`: system scores that were imported.
- `floors.tsv`: baselines that a metric has to beat (random scores, text lengths); `ratings.tsv`:
  the judgments behind the human scores, from which the human ceiling is computed.
- `spans.tsv`: errors that metrics marked; `human-spans.tsv`: errors that annotators marked, in the
  judgments that the filters below choose. Spans are [start, end) in code points, 0 0 without a
  position; an output without marked errors has one line, with `no-error`.
- `lengths.tsv`: lengths of outputs and target lengths.
- `mt-metrics-eval/`: texts and scores in the layout of mt-metrics-eval, version 2. Metrics with
  missing scores are not included, because the layout cannot represent them. In this layout higher
  scores are better, so the sign is reversed for metrics where lower scores are better.
- `expected/`: the numbers.

`judgments.tsv` and `mt-metrics-eval/` contain the whole campaign. The column `human` of
`scores.tsv` and all tables depend on the filters below, which are arguments of the commands.

The tables do not include the influence of single annotators, sample sizes, layers, drift, and
comparisons with other campaigns.

## Settings

{settings}
"""


def readme(content: Content, tables: Sequence[BundleTable], trust: Trust | None) -> str:
    """Return the README, with the verdict first."""
    head, *reasons = lines(trust)
    commands = "\n\n".join(f"    {table.command}\n\n{table.about}." for table in tables)
    return TEXT.format(
        name=content.campaign.name,
        trust="\n".join([f"**{head}**", "", *reasons]).strip(),
        commands=commands,
        settings="\n".join(_settings(content)),
    )


def _settings(content: Content) -> list[str]:
    campaign, human = content.campaign, content.panel.human
    lines = [
        f"- {campaign.test_set.direction}, length ratio: {campaign.percent}",
        f"- protocol {campaign.protocol}, annotators: {campaign.get_origin_display().lower()}",
        f"- human scores: {human.source}",
        f"- intervals and tests are over {units(human.clusters)}",
        f"- seed of hybrids and resamples: {campaign.seed}",
        f"- filters: {'; '.join(map(str, content.filters.words)) or 'none'}",
    ]
    lines += [f"- {each.label}: `{each.signature}`" for each in content.measures.values()]
    imported = [each.label for each in content.measures.values() if each.is_imported]
    if imported:
        lines.append(f"- computed elsewhere and imported: {', '.join(imported)}")
    return lines + [f"- {why}" for why in content.excluded.values()]


def script(tables: Sequence[BundleTable]) -> str:
    """Return a shell script that runs every command, then compares all numbers."""
    lines = ["#!/bin/sh", "# Run where Python finds metaeval: PYTHONPATH=/path/to/touchstone."]
    lines += ["set -e", 'cd "$(dirname "$0")"']
    lines += [table.command for table in tables]
    return "\n".join([*lines, "python -m metaeval reproduce ."]) + "\n"


# The first level of compression takes a third of the time of the usual one.
LEVEL = 1


@dataclass(frozen=True)
class Built:
    """A bundle as a zip file, its manifest, its tables, and its warnings."""

    zip: bytes
    manifest: dict[str, Any]
    tables: Sequence[BundleTable]
    warnings: Sequence[Message]


def build(campaign: Campaign, filters: Filters) -> Built:
    """Return a bundle; the same data give the same bytes."""
    content = read_content(campaign, filters)
    tables = tables_of(content)
    trust = verdict.compute(campaign, content.filters)
    with TemporaryDirectory() as name:
        folder = Path(name)
        for path, lines in data_files(content):
            _write(folder / path, lines)
        manifest, text = manifest_of(content, tables), readme(content, tables, trust)
        excluded = list(content.excluded.values())
        # Tables are computed from the files, as readers do.
        del content
        forget_memos()
        for _, group in groupby(tables, key=lambda table: table.arguments[1]):
            for table in group:
                give_back()
                _write(folder / f"expected/{table.name}.json", expected(folder, table))
            forget_files()
        give_back()
        manifest |= {"files": _sums(folder), "trust": msgspec.to_builtins(trust)}
        _write(folder / "manifest.json", [json.dumps(manifest, ensure_ascii=False, indent=1)])
        _write(folder / "README.md", [text])
        _write(folder / "reproduce.sh", [script(tables)])
        return Built(_zipped(folder, f"{campaign.slug}-bundle"), manifest, tables, excluded)


def _write(path: Path, lines: Iterable[str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        file.writelines(lines)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def _sums(folder: Path) -> dict[str, str]:
    found = {}
    for path in _files(folder):
        with path.open("rb") as file:
            found[path.relative_to(folder).as_posix()] = hashlib.file_digest(
                file, "sha256"
            ).hexdigest()
    return found


def _zipped(folder: Path, top: str) -> bytes:
    """Return all files as a zip file."""
    with TemporaryFile() as archive:
        with zipfile.ZipFile(archive, "w") as members:
            for path in _files(folder):
                info = zipfile.ZipInfo(f"{top}/{path.relative_to(folder).as_posix()}", EPOCH)
                info.external_attr = 0o644 << 16
                # Public as `compress_level` from Python 3.13 on.
                info.compress_type, info._compresslevel = zipfile.ZIP_DEFLATED, LEVEL  # type: ignore[attr-defined]
                with path.open("rb") as file, members.open(info, "w") as member:
                    copyfileobj(file, member)
        archive.seek(0)
        return archive.read()
