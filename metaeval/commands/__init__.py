"""The commands of ``python -m metaeval``."""

from metaeval.commands.entry import main, run_command

__all__ = ["main", "run_command"]
