"""``python -m metaeval human``: judgments standardised, systems ranked, agreement."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np

from metaeval.arrays import BoolArray, FloatArray
from metaeval.commands.bundle import add_common, choose
from metaeval.commands.scores import known
from metaeval.commands.systems import CommandError, choose_systems, print_note
from metaeval.documents import DOCUMENTS, of_several_segments
from metaeval.files.text import Table
from metaeval.judgments.agreement.intervals import AgreementInterval, agreement_interval
from metaeval.judgments.standardize import mean_scores, z_scores
from metaeval.messages import MINUS, Message, message, plural, printable
from metaeval.systems.ranking import TESTS, rank_systems

Row = dict[str, Any]


def human(options: argparse.Namespace) -> tuple[Row, list[Row]]:
    """Standardise judgments (annotator, system, segment, score), rank systems, compute alpha.

    With a column document, intervals and tests are over documents.
    """
    labels, scores = _on_systems(options, *_read_judgments(options.path))
    if missing := int(np.isnan(scores).sum()):
        print_note(
            plural(
                "command.missing-judgments",
                "{n} of {all} scores is missing.",
                "{n} of {all} scores are missing.",
                n=missing,
                all=len(scores),
            )
        )
    scores = -scores if options.lower else scores
    z = z_scores(scores, labels["annotator"]).z
    counted = _of_types(options, labels.pop("type"))
    annotators, systems, segments, documents = (
        list(compress(each, counted)) for each in labels.values()
    )
    z, of = z[counted], of_several_segments(documents, segments)
    means = mean_scores(z, systems, segments, documents=of)
    ranking = rank_systems(means.matrix, test=options.test, rng=options.seed)
    outputs = [f"{system}\t{segment}" for system, segment in zip(systems, segments, strict=True)]
    agreement = agreement_interval(
        z, annotators, outputs, documents=of, is_standardised=True, rng=options.seed
    )
    rows = [
        {"system": name, "z": float(score), "low": float(low), "high": float(high),
         "cluster": int(cluster), "first": int(first), "last": int(last), "wins": int(wins)}
        for name, score, low, high, cluster, first, last, wins in zip(
            ranking.systems, ranking.scores, ranking.lows, ranking.highs, ranking.clusters,
            ranking.first, ranking.last, ranking.wins, strict=True,
        )
    ]  # fmt: skip
    document = {"alpha": _alpha(agreement), "agreement": agreement.to_dict()}
    return document | {"ranking": ranking.to_dict(), "systems": rows}, rows


def agreement_lines(document: Row) -> list[str]:
    """Return the agreement and its warnings, as lines below the table of systems."""
    found = document["agreement"]
    lines = [
        f"{name}: {_estimate(found, key)}; {_counts(found)}"
        for name, key in (("Krippendorff's alpha (interval)", "alpha"),
                          ("one-vs-rest Pearson", "one_vs_rest"))
    ]  # fmt: skip
    return lines + [f"warning: {warning['message']['text']}" for warning in found["warnings"]]


def _counts(found: Row) -> Message:
    if found["unit"] == DOCUMENTS:
        return message(
            "command.agreement-counts-documents",
            "{ratings} z-scores of {outputs} outputs with two or more, in {documents} documents",
            ratings=found["n"],
            outputs=found["n_items"],
            documents=found["n_units"],
        )
    return message(
        "command.agreement-counts",
        "{ratings} z-scores of {outputs} outputs with two or more",
        ratings=found["n"],
        outputs=found["n_items"],
    )


def _alpha(agreement: AgreementInterval) -> Row:
    return {
        "statistic": agreement.alpha,
        "interval": agreement.alpha_interval,
        "method": agreement.alpha_method,
        "n": agreement.n,
        "n_items": agreement.n_items,
    }


def _estimate(found: Row, key: str) -> str:
    if found[key] is None:
        return "undefined"
    if found[f"{key}_interval"] is None:
        return f"{found[key]:.6g}, no interval".replace("-", MINUS)
    low, high, confidence = found[f"{key}_interval"]
    method = found[f"{key}_method"]["text"]
    numbers = f"{found[key]:.6g} [{low:.6g}, {high:.6g}]".replace("-", MINUS)
    return f"{numbers}, {confidence:.0%}, {method}"


def add_human(commands: Any) -> None:
    """Add the subcommand to a parser."""
    command = commands.add_parser("human", help=human.__doc__)
    command.set_defaults(run=human)
    add = command.add_argument
    add("path", help="TSV: annotator, system, segment, score, perhaps type and document")
    add("--systems", action="append", default=[], help="use only this system; repeatable")
    add("--without-systems", action="append", default=[], help="a system to exclude; repeatable")
    command.set_defaults(with_human=True)
    add("--lower", action="store_true", help="lower scores are better, such as penalties")
    add("--type", action="append", default=[],
        help="use only items of this type; repeatable; default: all")  # fmt: skip
    choose(add, "--test", TESTS, "rank-sum",
           "test between systems: rank-sum (as in WMT; default), permutation (on the segments that "
           "both have), or wmt26 (either of two bootstraps)")  # fmt: skip
    add_common(command)


def _read_judgments(path: str) -> tuple[dict[str, list[str]], FloatArray]:
    """Return annotators, systems, segments, documents, types of items, and scores.

    Documents and types are empty without such a column.
    """
    table = Table(
        path,
        ["annotator|worker|rater", "system", "segment|seg|seg_id|sid", "score|raw"],
        optional=["type|kind|itemType", "document|doc|document_id"],
    )
    if not table.rows:
        raise CommandError(
            message("command.no-judgments", "{path} contains no judgments.", path=str(path))
        )
    labels = {
        key: [table.text(n, row, key) if key in table.columns else "" for n, row in table.rows]
        for key in ("annotator", "system", "segment", "type")
    }
    column = table.columns.get("document")
    labels["document"] = ["" if column is None else row[column].strip() for _, row in table.rows]
    return labels, np.array([table.number(n, row, "score") for n, row in table.rows])


def _on_systems(
    options: argparse.Namespace, labels: dict[str, list[str]], scores: FloatArray
) -> tuple[dict[str, list[str]], FloatArray]:
    """Return the judgments of the selected systems; human translations are ranked, too."""
    chosen = choose_systems(options, list(dict.fromkeys(labels["system"])))
    chosen.print_notes()
    names = set(chosen.names)
    is_in = np.array([name in names for name in labels["system"]], dtype=np.bool_)
    return {key: list(compress(each, is_in)) for key, each in labels.items()}, scores[is_in]


def _of_types(options: argparse.Namespace, types: Sequence[str]) -> BoolArray:
    """Return which judgments are of items of the selected types."""
    found = dict.fromkeys(types)
    wanted = known(options, "type", found)
    if not wanted and len(found) > 1:
        warning = message(
            "command.all-types",
            "Items of all types are used: {types}. Use --type to select types.",
            types=list(found),
        )
        print(f"warning: {printable(warning.text)}", file=sys.stderr)
    return np.array([not wanted or kind in wanted for kind in types])
