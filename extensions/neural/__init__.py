"""Score with neural metrics: encoders, families over their vectors, and trained models.

Importing this package keeps transformers from importing scikit-learn, which it uses for assisted
generation only. With pandas and pyarrow, that import costs every encoding process more than a
second and 100 MB. Other code can still import scikit-learn.
"""

import sys
from importlib.abc import MetaPathFinder


class WithoutScikitLearn(MetaPathFinder):
    """Find nothing; mark scikit-learn as missing before transformers looks for it."""

    def find_spec(self, fullname: str, path: object, target: object = None) -> None:
        utils = sys.modules.get("transformers.utils.import_utils")
        if fullname == "transformers.generation" and utils is not None:
            utils._sklearn_available = False  # type: ignore[attr-defined]


sys.meta_path.insert(0, WithoutScikitLearn())
