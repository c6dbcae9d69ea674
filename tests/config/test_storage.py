"""Hashed names also inside modules, or a browser would mix the files of two versions."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from shutil import rmtree
from typing import Any

import pytest
from django.conf import settings
from django.core.files.storage import FileSystemStorage
from django.core.management import call_command

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


CHANGES: list[Callable[[Path], object]] = [
    lambda folder: (folder / "page.css").write_text("b {}"),
    lambda folder: (folder / "added.css").write_text("b {}"),
    lambda folder: (folder / "page.css").rename(folder / "other.css"),
    lambda folder: rmtree(folder.parent / "collected"),
]


@pytest.mark.parametrize("change", CHANGES, ids=["changed", "added", "renamed", "not collected"])
def test_what_is_collected_is_seen(
    tmp_path: Path, settings: Any, change: Callable[[Path], object]
) -> None:
    folder = tmp_path / "static"
    folder.mkdir()
    page = folder / "page.css"
    page.write_text("a {}")
    at = page.stat().st_mtime_ns
    settings.STATIC_ROOT = tmp_path / "collected"
    settings.STATICFILES_DIRS = [("own", folder)]
    settings.STATICFILES_FINDERS = ["django.contrib.staticfiles.finders.FileSystemFinder"]
    settings.STORAGES = settings.STORAGES | {
        "staticfiles": {"BACKEND": "config.storage.ModuleManifestStorage"}
    }
    call_command("collectstatic", interactive=False, verbosity=0)
    assert ModuleManifestStorage().is_current()
    page.touch()  # as a copy of the same release is
    assert ModuleManifestStorage().is_current()
    kept = [each.name for each in (tmp_path / "collected" / "own").iterdir()]
    assert [name for name in kept if not re.fullmatch(r"page\.[0-9a-f]{12}\.css", name)] == []
    change(folder)
    for path in folder.iterdir():  # as files of a release come: with the dates that they had
        os.utime(path, ns=(at, at))
    assert not ModuleManifestStorage().is_current()
