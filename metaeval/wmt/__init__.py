"""WMT's metrics tasks: declared tables, correlations and tests of each task, and the ranking."""

from metaeval.wmt.overall import Ranking, rank_overall
from metaeval.wmt.running import TaskResult, run_task
from metaeval.wmt.selection import Comparison, compared, pairs_in, year_folder
from metaeval.wmt.tasks import YEARS, Task, tasks_of

__all__ = [
    "YEARS",
    "Comparison",
    "Ranking",
    "Task",
    "TaskResult",
    "compared",
    "pairs_in",
    "rank_overall",
    "run_task",
    "tasks_of",
    "year_folder",
]
__dir__ = __all__.copy
