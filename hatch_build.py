"""The wheel's requirements, from the files that the locks are made of."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Requirements(MetadataHookInterface):
    """Reads requirements/web.txt, and one file for each extra."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set dependencies and extras."""
        metadata["dependencies"] = self._read("web")
        metadata["optional-dependencies"] = {
            "worker": self._read("worker"),
            "postgres": self._read("postgres"),
            "sso": self._read("sso"),
            "s3": self._read("s3"),
            "otel": self._read("otel"),
            "sentry": self._read("sentry"),
        }

    def _read(self, name: str) -> list[str]:
        path = Path(self.root) / "requirements" / f"{name}.txt"
        lines = path.read_text(encoding="utf-8").splitlines()
        return [line for line in lines if re.match(r"[A-Za-z]", line)]
