"""Hashed names also inside modules, or a browser would mix the files of two versions."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.files.storage import FileSystemStorage
from django.core.management import call_command

from config import storage as own_storage
from config.storage import ModuleManifestStorage


def test_modules_import_each_other_by_hashed_names(tmp_path: Path) -> None:
    source = FileSystemStorage(location=settings.BASE_DIR / "static")
    paths = [
        str(path.relative_to(source.location))
        for path in (settings.BASE_DIR / "static" / "js").rglob("*.js")
    ]
    storage = ModuleManifestStorage(location=tmp_path, base_url="/static/")
    for path in paths:
        with source.open(path) as file:
            storage.save(path, file)
    for _, _, processed in storage.post_process({path: (source, path) for path in paths}):
        assert not isinstance(processed, Exception)
    texts = [(tmp_path / storage.stored_name(path)).read_text() for path in paths]
    imported = re.findall(r"""(?:from|import\() ?"([^"]+)\"""", "".join(texts))
    assert len(imported) > 20
    # Comments and what lines begin with are gone, and nothing else is.
    assert not re.search(r"^(\s|//|/\*)", "".join(texts), re.MULTILINE)
    own = [source.path(path) for path in paths]
    assert len("".join(texts)) < 0.9 * sum(Path(path).stat().st_size for path in own)
    assert [name for name in imported if not re.search(r"\.[0-9a-f]{12}\.js$", name)] == []


def age(path: Path, seconds: int) -> None:
    """Have it changed so long after the files were collected."""
    at = (path.parents[1] / "collected" / "staticfiles.json").stat().st_mtime + seconds
    os.utime(path, (at, at))


def add(folder: Path) -> None:
    (folder / "added.css").write_text("b {}")
    age(folder / "added.css", -5)  # moved here: older than what was collected


CHANGES: list[Callable[[Path], object]] = [
    lambda folder: age(folder / "page.css", 5),
    add,
    lambda folder: (folder.parent / "collected" / "staticfiles.json").unlink(),
]


@pytest.mark.parametrize("change", CHANGES, ids=["changed", "added", "not collected"])
def test_what_is_collected_is_seen(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], object]
) -> None:
    folder = tmp_path / "static"
    folder.mkdir()
    page = folder / "page.css"
    page.write_text("a {}")
    settings.STATIC_ROOT = tmp_path / "collected"
    settings.STATICFILES_DIRS = [("own", folder)]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "config.storage.ModuleManifestStorage"}
    }
    code = folder.parent / "code" / "storage.py"
    monkeypatch.setattr(own_storage, "__file__", str(code))
    code.parent.mkdir()
    code.touch()
    call_command("collectstatic", interactive=False, verbosity=0)
    for path in (page, code):
        age(path, -5)
    assert ModuleManifestStorage().is_current()
    kept = [each.name for each in (tmp_path / "collected" / "own").iterdir()]
    assert [name for name in kept if not re.fullmatch(r"page\.[0-9a-f]{12}\.css", name)] == []
    change(folder)
    assert not ModuleManifestStorage().is_current()
