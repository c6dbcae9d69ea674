"""The fixtures of the dashboards' tests, for pages of extensions."""

from tests.dashboards.conftest import rated, rated_rows

__all__ = ["rated", "rated_rows"]
