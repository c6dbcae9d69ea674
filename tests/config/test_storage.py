"""Hashed names also inside modules, or a browser would mix the files of two versions."""

import re
from pathlib import Path

from django.conf import settings
from django.core.files.storage import FileSystemStorage

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
