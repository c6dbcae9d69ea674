"""The replication bundle: a campaign's data, settings and numbers, which `python -m metaeval
reproduce` computes again."""

from dashboards.bundle.archive import build

__all__ = ["build"]
