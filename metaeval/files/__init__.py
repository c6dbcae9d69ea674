"""Files of others: mt-metrics-eval directories, tables of scores, WMT's DA, daRR and MQM."""

from metaeval.files.evalset.folder import (
    EvalSet,
    SystemScores,
    evalset_system_scores,
    write_evalset,
)
from metaeval.files.evalset.folder import Scores as EvalSetScores
from metaeval.files.evalset.reading import read_evalset
from metaeval.files.tables import (
    RelativeRanks,
    mqm_weight,
    read_da,
    read_darr,
    read_mqm,
    read_score_table,
    write_score_table,
)
from metaeval.files.text import FormatError

__all__ = [
    "EvalSet",
    "EvalSetScores",
    "FormatError",
    "RelativeRanks",
    "SystemScores",
    "evalset_system_scores",
    "mqm_weight",
    "read_da",
    "read_darr",
    "read_evalset",
    "read_mqm",
    "read_score_table",
    "write_evalset",
    "write_score_table",
]
__dir__ = __all__.copy
