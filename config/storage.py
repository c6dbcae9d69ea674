"""Static files with hashed names, also inside ES module imports, and modules without comments."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import get_finders
from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

OWN = "js/"
# Comments that have their lines to themselves, and what lines begin with.
_IDLE = re.compile(r"^(?:\s*(?:/\*\*.*?\*/|//[^\n]*)$)*\s*", re.MULTILINE | re.DOTALL)


def bare(module: str) -> str:
    """A module as it is served: the comments are for those who read the source.

    No string of ours goes on over the end of a line, nor does a comment follow code behind `/*`.
    """
    return _IDLE.sub("", module)


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """WhiteNoise's storage, with the paths in `import` statements rewritten to hashed names."""

    support_js_module_import_aggregation = True

    def _save(self, name: str, content: Any) -> str:
        if name.startswith(OWN) and name.endswith(".js"):
            content = ContentFile(bare(b"".join(content.chunks()).decode()).encode())
        stored: str = super()._save(name, content)
        return stored

    def is_current(self) -> bool:
        """Whether `collectstatic` has seen every static file, and this one, as they are now."""
        manifest = Path(self.path(self.manifest_name))
        if not manifest.exists():
            return False
        seen, at = json.loads(manifest.read_bytes())["paths"], manifest.stat().st_mtime
        files = dict(_static_files())
        times = [path.stat().st_mtime for path in (*files.values(), Path(__file__))]
        return files.keys() <= seen.keys() and max(times) < at


def _static_files() -> Iterator[tuple[str, Path]]:
    for finder in get_finders():
        for name, storage in finder.list([]):
            prefix = getattr(storage, "prefix", None)
            yield f"{prefix}/{name}" if prefix else name, Path(storage.path(name))
