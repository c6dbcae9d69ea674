"""Extensions: each is a folder of its own, and one record says what it adds.

`settings.EXTENSIONS` names the packages; the record of each is `EXTENSION` in its module
`extension`. Nothing outside a package imports from inside it: the record names everything by dotted
path, and each is imported where it is first needed. How to write one: docs/extensions.md.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.module_loading import import_string


@dataclass(frozen=True)
class Place:
    """Where a page is listed: by its name, which is that of its address unless `address` says it.

    A page of an extension is listed before the page `before`, or last. Of a rail, `tab` heads it
    among the pages of a study, `is_own` hides it from all who do not run the campaign, and `needs`
    is what must hold of a campaign for the page to say anything.
    """

    name: str
    label: str | Promise
    address: str = ""
    is_own: bool = False
    needs: str = ""
    before: str = ""
    tab: str | Promise = ""


@dataclass(frozen=True, kw_only=True)
class Extension:
    """What one extension adds, as data: importing the record imports nothing of it.

    `app` is its Django app, with models, commands, templates and static files as usual. `urls` is
    the module of its addresses, `api` lists (prefix, viewset, base name). `work` maps kinds of
    background work, `families` those of metrics (`module:NAME`) and `analyses` those behind result
    pages to where they are described; `metrics` is a mapping of known metrics
    (:data:`metrics.registry.METRICS`). `types` are a sequence of resource types, and `test_set`
    what is deleted with a test set (:mod:`lifecycle.resources.resource_type`). `slow` are the
    analyses that may take longer than a reader waits. `results` are pages of campaigns, `study` of
    studies, `pages` other ones that the search finds. `fragments` are templates that other pages
    include, by place. `reference` returns :class:`Section`s of the generated documentation of
    metrics. `needs` names the packages of other extensions that it imports from.
    """

    app: str
    needs: Sequence[str] = ()
    urls: str = ""
    api: Sequence[tuple[str, str, str]] = ()
    work: Mapping[str, str] = field(default_factory=dict)
    families: Mapping[str, str] = field(default_factory=dict)
    metrics: str = ""
    analyses: Mapping[str, str] = field(default_factory=dict)
    types: str = ""
    test_set: str = ""
    slow: Sequence[str] = ()
    results: Sequence[Place] = ()
    study: Sequence[Place] = ()
    pages: Sequence[Place] = ()
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


def load_all(packages: Sequence[str]) -> list[Extension]:
    """Return the records of packages; ImproperlyConfigured where one needs another that is not."""
    records = [load(package) for package in packages]
    for package, record in zip(packages, records, strict=True):
        if missing := [name for name in record.needs if name not in packages]:
            raise ImproperlyConfigured(
                f"EXTENSIONS names {package!r}, which needs {missing[0]!r}: name both or neither."
            )
    return records


def installed() -> list[Extension]:
    """Return the records of all installed extensions, in the order of the setting."""
    return [load(package) for package in settings.EXTENSIONS]


def merged(name: str) -> dict[str, Any]:
    """Return a mapping of all records as one."""
    return {key: value for each in installed() for key, value in getattr(each, name).items()}


def places(name: Literal["results", "study", "pages"], core: Sequence[Place] = ()) -> list[Place]:
    """Return the core's pages with those of all records, each where its record wants it."""
    found = list(core)
    for place in (place for each in installed() for place in getattr(each, name)):
        names = [each.name for each in found]
        found.insert(names.index(place.before) if place.before in names else len(names), place)
    return found


def address(name: str, *args: str) -> str:
    """Return an address that an extension may have; empty where no installed one does."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


def imported(name: str) -> Iterator[Any]:
    """Import what a field names, of every record that names something."""
    for each in installed():
        if path := getattr(each, name):
            yield import_string(path)


def template_folders(root: Path) -> list[Path]:
    """Return the folders of templates below a project: its own, then those of its packages."""
    ours = [*root.glob("[a-z]*/templates"), *root.glob("extensions/[a-z]*/templates")]
    return [root / "templates", *sorted(ours)]
