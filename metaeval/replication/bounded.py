"""Floor and ceiling of a question from the files of a bundle."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from metaeval.files.tables import DOCUMENT, score_columns
from metaeval.files.text import FormatError, Table
from metaeval.replication.bounds import Ratings, against_floors, ceiling
from metaeval.replication.questions.scored import Scored
from metaeval.replication.questions.statistics import Question
from metaeval.results import StatisticsWarning
from metaeval.scores.matrix import ScoreMatrix

Row = dict[str, Any]
RANDOM = "floor-random"


def read_floors(path: str | Path, human: ScoreMatrix) -> Mapping[str, ScoreMatrix]:
    """Read floors.tsv: system, segment, a column a floor, that of random numbers among them.

    Systems that the scores leave out are left out here too. Raises FormatError where the cells are
    not those of the scores, or random numbers are missing.
    """
    table = Table(path, ["system", "segment", RANDOM])
    keys = ("system", "segment", *DOCUMENT.split("|"))
    floors = score_columns(table, [name for name in table.header if name not in keys])
    if set(human.systems) < set(floors[RANDOM].systems):
        floors = {name: each.subset(systems=human.systems) for name, each in floors.items()}
    first = floors[RANDOM]
    if (first.systems, first.segments) != (human.systems, human.segments):
        raise FormatError(Path(path), None, "systems or segments differ from those of the scores")
    return floors


def read_ratings(path: str | Path, human: ScoreMatrix, left_out: Collection[str] = ()) -> Ratings:
    """Read ratings.tsv: annotator, system, segment, score; people in the order of the file.

    Ratings of systems that are ``left_out`` do not count. Raises FormatError for any other output
    that the scores do not have.
    """
    table = Table(path, ["annotator", "system", "segment", "score"])
    cells = [(system, segment) for system in human.systems for segment in human.segments]
    places = {cell: place for place, cell in enumerate(cells)}
    people: dict[str, int] = {}
    found: list[tuple[int, int, float]] = []
    for line, row in table.rows:
        cell = table.text(line, row, "system"), table.text(line, row, "segment")
        if cell[0] in left_out:
            continue
        if cell not in places:
            raise FormatError(table.path, line, f"no output of {cell[0]} for segment {cell[1]}")
        who = people.setdefault(table.text(line, row, "annotator"), len(people))
        found.append((who, places[cell], table.number(line, row, "score")))
    rater, place, score = zip(*found, strict=True) if found else [()] * 3
    return Ratings(np.array(rater, int), np.array(place, int), np.array(score, float))


def bounds_document(
    scored: Scored,
    question: Question,
    floors: Mapping[str, ScoreMatrix] | None,
    ratings: Ratings | None,
) -> Row:
    """Return floors with intervals, every metric against them, and what people reach.

    Each is there where its file was given; hybrids that were drawn have no ceiling.
    """
    found: Row = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatisticsWarning)
        if floors is not None:
            found |= _floors(scored, question, floors)
        if ratings is not None and not question.statistic.is_of_draws:
            found |= _ceiling(scored, question, ratings)
    return found


def _floors(scored: Scored, question: Question, floors: Mapping[str, ScoreMatrix]) -> Row:
    tested = against_floors(scored, floors, question, random=RANDOM)
    rows = zip(floors, tested.values.tolist(), tested.lows.tolist(), tested.highs.tolist(),
               strict=True)  # fmt: skip
    against = zip(scored.metrics, tested.above.tolist(), tested.below.tolist(), tested.states,
                  strict=True)  # fmt: skip
    return {
        "floor_test": tested.test,
        "floors": [
            {"floor": "floor-constant", "value": tested.constant, "low": np.nan, "high": np.nan},
            *(dict(zip(("floor", "value", "low", "high"), row, strict=True)) for row in rows),
        ],
        "against": [
            dict(zip(("metric", "p_above", "p_below", "state"), row, strict=True))
            for row in against
        ],
    }


def _ceiling(scored: Scored, question: Question, ratings: Ratings) -> Row:
    found = ceiling(ratings, scored, question)
    return {
        "ceiling": {
            "value": found.mean,
            "people": [
                {"n": n, "value": value}
                for n, value in zip(found.overlaps.tolist(), found.values.tolist(), strict=True)
            ],
            "metrics": dict(zip(scored.metrics, found.metrics.tolist(), strict=True)),
            "warnings": [each.message for each in found.warnings],
        }
    }
