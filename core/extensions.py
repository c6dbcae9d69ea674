"""Extensions: each is a folder of its own, and one record says what it adds.

`settings.EXTENSIONS` names the packages; the record of each is `EXTENSION` in its module
`extension`. Nothing outside a package imports from inside it: the record names everything by dotted
path, and each is imported where it is first needed. How to write one: docs/extensions.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.utils.module_loading import import_string


@dataclass(frozen=True, kw_only=True)
class Extension:
    """What one extension adds, as data: importing the record imports nothing of it.

    `app` is its Django app, with models, commands, templates and static files as usual. `urls` is
    the module of its addresses, `api` lists (prefix, viewset, base name). `work` maps kinds of
    background work, `families` those of metrics (`module:NAME`) and `analyses` those behind result
    pages to where they are described; `metrics` is a mapping of known metrics
    (:data:`metrics.registry.METRICS`). `types` are a sequence of resource types, and `test_set`
    what is deleted with a test set (:mod:`lifecycle.resources.resource_type`). `results` are pages
    of campaigns, `pages` other ones that the search finds: address names with their headings.
    `fragments` are templates that other pages include, by place. `reference` returns
    :class:`Section`s of the generated documentation of metrics.
    """

    app: str
    urls: str = ""
    api: Sequence[tuple[str, str, str]] = ()
    work: Mapping[str, str] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)
    metrics: str = ""
    analyses: Mapping[str, str] = field(default_factory=dict)
    types: str = ""
    test_set: str = ""
    results: Mapping[str, str] = field(default_factory=dict)
    pages: Mapping[str, str] = field(default_factory=dict)
    fragments: Mapping[str, str] = field(default_factory=dict)
    reference: str = ""


@dataclass(frozen=True)
class Section:
    """A section of the generated documentation.

    `module` is one whose docstring follows without its first paragraph, `options` what can be set
    (:class:`metrics.options.Option`).
    """

    heading: str
    text: str
    module: str = ""
    options: Sequence[Any] = ()


def load(package: str) -> Extension:
    """Return the record of a package; ImproperlyConfigured where there is none."""
    try:
        record = import_module(f"{package}.extension").EXTENSION
    except (ModuleNotFoundError, AttributeError) as error:
        raise ImproperlyConfigured(f"EXTENSIONS names {package!r}: {error}.") from error
    if not isinstance(record, Extension):
        raise ImproperlyConfigured(f"{package}.extension.EXTENSION is no Extension.")
    return record


def installed() -> list[Extension]:
    """Return the records of all installed extensions, in the order of the setting."""
    return [load(package) for package in settings.EXTENSIONS]


def merged(name: str) -> dict[str, Any]:
    """Return a mapping of all records as one."""
    return {key: value for each in installed() for key, value in getattr(each, name).items()}


def imported(name: str) -> Iterator[Any]:
    """Import what a field names, of every record that names something."""
    for each in installed():
        if path := getattr(each, name):
            yield import_string(path)


def template_folders(root: Path) -> list[Path]:
    """Return the folders of templates below a project: its own, then those of its packages."""
    return [root / "templates", *sorted(root.glob("[a-z]*/templates"))]
