"""transformers without scikit-learn, which it has for one function of assisted generation alone.

With pandas and pyarrow behind it that takes every process that encodes more than a second and
100 MB. Whoever imports scikit-learn itself gets it.
"""

import sys
from importlib.abc import MetaPathFinder


class Sparing(MetaPathFinder):
    """Finds nothing; tells transformers, before it looks, that scikit-learn is not there."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        utils = sys.modules.get("transformers.utils.import_utils")
        if fullname == "transformers.generation" and utils is not None:
            utils._sklearn_available = False  # type: ignore[attr-defined]


def spare() -> None:
    """From now on."""
    sys.meta_path.insert(0, Sparing())
