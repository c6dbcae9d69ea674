"""Serve static files with hashed names, also in imports of modules, and without comments."""

import re
from hashlib import sha256
from pathlib import Path
from typing import Any

from django.contrib.staticfiles.finders import get_finders
from django.core.files.base import ContentFile
from whitenoise.storage import CompressedManifestStaticFilesStorage

OWN = "js/"
SOURCES = "sources.sha256"
# Comments on their own lines, and the beginnings of lines.
_IDLE = re.compile(r"^(?:\s*(?:/\*\*.*?\*/|//[^\n]*)$)*\s*", re.MULTILINE | re.DOTALL)


def bare(module: str) -> str:
    """Return a module as it is served, without its comments.

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

    def save_manifest(self) -> None:
        """Store a digest of the sources with the result."""
        super().save_manifest()
        Path(self.path(SOURCES)).write_text(_sources(), encoding="utf-8")

    def is_current(self) -> bool:
        """Return True if static files and this module have not changed since `collectstatic`."""
        kept = Path(self.path(SOURCES))
        return kept.exists() and kept.read_text(encoding="utf-8") == _sources()


def _sources() -> str:
    """Return a digest of contents; times do not help, as files of a release may be older."""
    digest = sha256(Path(__file__).read_bytes())
    for finder in get_finders():
        for name, storage in finder.list([]):
            content = Path(storage.path(name)).read_bytes()
            digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()
