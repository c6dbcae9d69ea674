"""The README and the script of a bundle."""

from collections.abc import Sequence

from dashboards.bundle.content import Content
from dashboards.bundle.tables import BundleTable
from dashboards.documents.reasons import Trust
from dashboards.trust.shown import lines
from metaeval.documents import counted as units

TEXT = """# {name}: replication bundle

{trust}

Everything that the tables of this campaign rest on, and the commands that compute them again.

## Reproduce

You need Touchstone's source and Python 3.11 with numpy and scipy; no database, no models:

    python -m metaeval reproduce PATH

where PATH is the zip file or this folder. It checks the files against the sums in `manifest.json`,
recomputes every table and compares every number bit for bit. It ends with 0 where all are equal,
and with 1 and a list where one differs. With other versions of numpy or scipy, or on another kind
of processor, the last digit of a sum may differ: then `--tolerance 1e-12` tells rounding from
change. One by one, inside this folder (`reproduce.sh` runs all):

{commands}

## Files

- `manifest.json`: settings, seeds, versions, metric signatures, SHA-256 of every file; on which
  processors, devices and builds of libraries scores (`computed_on`) and tables (`builds`) were
  computed.
- `judgments.tsv`: current judgments in each annotator's order, without practice; `is_target` marks
  those that make human scores, `seconds` is the server's time, `item`, `partner` and `output` are
  numbers that only tell rows apart. `document` stands where others of its segments are there, too.
  `annotators.tsv`: public names; the excluded enter no number.
- `segments.tsv`: sources and references (separated by ` ||| `); `line` is the place in the files
  of `mt-metrics-eval/`, where documents stay together. Tabs and line
  breaks inside texts are blanks.
- `scores.tsv`: human score and every metric, as the metric gives it, of every output of the systems
  that metrics are compared on; empty where there is none. Human translations (`human_systems` of
  `manifest.json`) are among them only where the filters say so. `document` is the number of the
  first segment of a segment's document: intervals and tests are over documents where the column is
  there, else over segments. `counts/`: the summed counts behind corpus scores.
- `metrics.tsv`: keys, labels and directions of the metrics, and whether their scores were computed
  by Touchstone or imported. `metric-systems.tsv`: scores of whole systems that were imported.
- `floors.tsv`: metrics that know nothing of quality, which a metric has to beat; `ratings.tsv`: the
  judgments behind the human scores in their form, from which people are set against people.
- `spans.tsv`: errors that metrics marked, `human-spans.tsv` those of people in the judgments that
  the filters below keep; [start, end) in code points, 0 0 without a place; an output in which
  nothing was marked has one line, with `no-error`.
- `lengths.tsv`: lengths of outputs and the wanted ones.
- `mt-metrics-eval/`: texts and scores in the layout of mt-metrics-eval, version 2; metrics with
  missing scores are left out there, because the layout has no place for them. In this layout
  higher scores are better: those of a metric whose lower scores are better have the other sign.
- `expected/`: the numbers.

`judgments.tsv` and `mt-metrics-eval/` hold the whole campaign. The column `human` of `scores.tsv`
and all tables rest on the filters below, which stand in the commands.

Not in the tables: what leaving somebody out would change, how many segments a correlation needs,
layers, drift, and comparisons with other campaigns.

## Settings

{settings}
"""


def readme(content: Content, tables: Sequence[BundleTable], trust: Trust | None) -> str:
    """Return the README, with what limits trust first."""
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
        f"- {campaign.test_set.direction}, length asked for: {campaign.percent}",
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
    return lines + [f"- {key} is not in the tables: {why}" for key, why in content.left_out.items()]


def script(tables: Sequence[BundleTable]) -> str:
    """Return a shell script that runs every command, then compares all numbers."""
    lines = ["#!/bin/sh", "# Run where Python finds metaeval: PYTHONPATH=/path/to/touchstone."]
    lines += ["set -e", 'cd "$(dirname "$0")"']
    lines += [table.command for table in tables]
    return "\n".join([*lines, "python -m metaeval reproduce ."]) + "\n"
