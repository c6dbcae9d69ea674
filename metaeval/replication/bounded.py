"""Baselines and human ceiling of a question, from the files of a bundle."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from metaeval.files.tables import DOCUMENT, score_columns
from metaeval.files.text import FormatError, Table
from metaeval.messages import message
from metaeval.replication.bounds import Ratings, against_floors, ceiling
from metaeval.replication.questions.scored import Scored
from metaeval.replication.questions.statistics import Question
from metaeval.replication.tables import OTHER_CELLS, written_columns
from metaeval.results import StatisticsWarning
from metaeval.scores.matrix import ScoreMatrix

Row = dict[str, Any]
RANDOM = "floor-random"


def read_floors(path: str | Path, human: ScoreMatrix) -> Mapping[str, ScoreMatrix]:
    """Read floors.tsv: system, segment, and a column per baseline, one of them random numbers.

    Systems that the scores exclude are excluded here too. Raises FormatError if the cells differ
    from those of the scores, or random numbers are missing.
    """
    floors = written_columns(Path(path))
    if floors is None or RANDOM not in floors or floors[RANDOM].documents is not None:
        table = Table(path, ["system", "segment", RANDOM])
        keys = ("system", "segment", *DOCUMENT.split("|"))
        floors = score_columns(table, [name for name in table.header if name not in keys])
    if set(human.systems) < set(floors[RANDOM].systems):
        floors = {name: each.subset(systems=human.systems) for name, each in floors.items()}
    first = floors[RANDOM]
    if (first.systems, first.segments) != (human.systems, human.segments):
        raise FormatError(Path(path), None, OTHER_CELLS)
    return floors


def read_ratings(path: str | Path, human: ScoreMatrix, excluded: Collection[str] = ()) -> Ratings:
    """Read ratings.tsv: annotator, system, segment, score; annotators in the order of the file.

    Ratings of ``excluded`` systems do not count. Raises FormatError for any other output that the
    scores do not have.
    """
    codes: dict[str, int] = {}
    places = _places(human.systems), _places(human.segments)
    parts = []
    for table in Table.parts(path, ["annotator", "system", "segment", "score"]):
        names = [table.texts(name) for name in ("annotator", "system", "segment")]
        who = np.array([codes.setdefault(name, len(codes)) for name in names[0]], dtype=np.int64)
        rows, columns = (
            np.array([of.get(name, -1) for name in each], dtype=np.int64)
            for each, of in zip(names[1:], places, strict=True)
        )
        counted = np.array([name not in excluded for name in names[1]], dtype=np.bool_)
        if (lost := counted & ((rows < 0) | (columns < 0))).any():
            at = int(lost.argmax())
            refusal = message(
                "bounds.no-output",
                "The scores have no output of {system} for segment {segment}.",
                system=names[1][at],
                segment=names[2][at],
            )
            raise FormatError(table.path, table.rows[at][0], refusal)
        scores = np.array(table.numbers("score"), dtype=np.float64)
        place = rows * len(human.segments) + columns
        parts.append((who[counted], place[counted], scores[counted]))
    who, place, scores = map(np.concatenate, zip(*parts, strict=True))
    _, first, own = np.unique(who, return_index=True, return_inverse=True)
    return Ratings(np.argsort(np.argsort(first))[own], place, scores)


def _places(names: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(names)}


def bounds_document(
    scored: Scored,
    question: Question,
    floors: Mapping[str, ScoreMatrix] | None,
    ratings: Ratings | None,
) -> Row:
    """Return baselines with intervals, every metric tested against them, and the human ceiling.

    Each is returned if its file was given; drawn hybrid systems have no human ceiling.
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
