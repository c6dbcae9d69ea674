"""WMT's metrics tasks: declared tables, correlations and tests of each task, and the ranking."""

from metaeval.wmt.overall import Ranking, rank_overall
from metaeval.wmt.running import TaskResult, run_task
from metaeval.wmt.selection import Comparison, compared, pairs_in, year_folder
from metaeval.wmt.tasks import YEARS, Pair, Task, tasks_of, tasks_over

__all__ = [
    "YEARS",
    "Comparison",
    "Pair",
    "Ranking",
    "Task",
    "TaskResult",
    "compared",
    "pairs_in",
    "rank_overall",
    "run_task",
    "tasks_of",
    "tasks_over",
    "year_folder",
]
__dir__ = __all__.copy
