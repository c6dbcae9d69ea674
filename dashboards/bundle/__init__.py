"""The replication bundle: a campaign's data, settings and numbers.

`python -m metaeval reproduce` computes the numbers again.
"""

from dashboards.bundle.archive import build
from dashboards.bundle.content import BundleChoice

__all__ = ["BundleChoice", "build"]
