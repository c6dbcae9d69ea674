"""Programs that measure what docs/performance.md says, one a module: `python -m benchmarks.NAME`.

Their docstrings name the bounds. What one starts ends with it, always.
"""

from benchmarks.leftovers import end_with_this_process

end_with_this_process()
