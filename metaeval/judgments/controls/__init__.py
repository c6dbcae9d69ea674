"""What planted items, repeated items and times say of annotators."""

from metaeval.judgments.controls.consistency import (
    PassRate,
    RepeatConsistency,
    pass_rate,
    repeat_consistency,
)
from metaeval.judgments.controls.speed import ReadingSpeeds, reading_speeds
from metaeval.judgments.controls.tests import (
    AnnotationTimes,
    ControlTest,
    TrapLevels,
    annotation_times,
    control_test,
    trap_levels,
)
from metaeval.judgments.controls.workers import WorkerFlags, graham_filters

__all__ = [
    "AnnotationTimes",
    "ControlTest",
    "PassRate",
    "ReadingSpeeds",
    "RepeatConsistency",
    "TrapLevels",
    "WorkerFlags",
    "annotation_times",
    "control_test",
    "graham_filters",
    "pass_rate",
    "reading_speeds",
    "repeat_consistency",
    "trap_levels",
]
__dir__ = __all__.copy
