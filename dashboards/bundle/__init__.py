"""The replication bundle: a campaign's data, settings and numbers, which `python -m metaeval
reproduce` computes again."""

from dashboards.bundle.archive import build
from dashboards.bundle.choice import BundleChoice

__all__ = ["BundleChoice", "build"]
