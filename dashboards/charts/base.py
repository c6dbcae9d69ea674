"""Types that all figures share."""

from typing import Any

Document = dict[str, Any]
Spec = dict[str, Any]
