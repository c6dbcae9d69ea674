"""Extensions: each is a package whose record lists what it adds.

`settings.EXTENSIONS` names the packages; the record of each is `EXTENSION` in its module
`extension`. Code outside a package never imports from it: the record names everything by dotted
path, which is imported when it is first needed. docs/extensions.md explains how to write one.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
    """The place of a page in a list of pages; `address` is the URL's name, by default `name`.

    A page of an extension is listed before the page `before`, or last. Pages with the same `tab`
    are one tab of a study, or one page of a campaign's sidebar with a row of links above them.
    `is_own` hides a page from everyone who does not run the campaign, and `needs` is the condition
    on a campaign under which the page has any content: an attribute (`judging.spans`), or a
    function of the campaign (`module:function`).
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
    """The additions of one extension, as data: importing the record imports nothing else of it.

    `app` is its Django app, with models, commands, templates and static files as usual. `urls` is
    the module of its URLs, `api` lists (prefix, viewset, base name). `work` maps kinds of
    background jobs, `families` kinds of metrics (`module:NAME`) and `analyses` those of result
    pages to their descriptions; `metrics` is a mapping of known metrics
    (:data:`metrics.registry.METRICS`). `types` is a sequence of resource types, and `test_set`
    lists data that is deleted with a test set (:mod:`lifecycle.resources.resource_type`). `slow`
    are the analyses that may take longer than a reader waits. `results` are pages of campaigns,
    `study` pages of studies, `pages` other ones that the search finds. `fragments` are templates
    that other pages include, by place. `formats` is a sequence of formats of files
    (:class:`annotation.uploads.formats.base.Format`), `tools` one of other tools whose campaigns
    are imported (:class:`annotation.imports.sources.Tool`), `doors` maps kinds of imports to
    their descriptions (:class:`annotation.imports.background.Door`), and `exports` is a mapping of
    formats of exports (:class:`annotation.exports.formats.Format`). `reference` returns
    :class:`Section`s of the generated documentation. `needs` names the packages of extensions from
    which it imports.
    `second_step` is a function of request, account and target, which returns the page that asks for
    more before an account signs in, or None; `proof` is one of request and account, which returns
    what proves who an account without a password is (:mod:`annotation.web.password`).
    `apps`, `middleware` and `settings` are what a package that it uses needs in Django's settings.
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
    formats: str = ""
    tools: str = ""
    exports: str = ""
    doors: Mapping[str, str] = field(default_factory=dict)
    reference: str = ""
    second_step: str = ""
    proof: str = ""
    apps: Sequence[str] = ()
    middleware: Sequence[str] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Section:
    """A section of a page of the generated documentation: of metrics, or of imports or exports.

    The docstring of `module` follows, without its first paragraph where `text` replaces it, then a
    table of `options` (:class:`metrics.options.Option`).
    """

    heading: str
    text: str = ""
    module: str = ""
    options: Sequence[Any] = ()
    page: Literal["metrics", "imports", "exports"] = "metrics"


def load(package: str) -> Extension:
    """Return the record of a package; raises ImproperlyConfigured if it has none."""
    try:
        record = import_module(f"{package}.extension").EXTENSION
    except (ModuleNotFoundError, AttributeError) as error:
        raise ImproperlyConfigured(f"EXTENSIONS names {package!r}: {error}.") from error
    if not isinstance(record, Extension):
        raise ImproperlyConfigured(f"{package}.extension.EXTENSION is not an Extension.")
    return record


def load_all(packages: Sequence[str]) -> list[Extension]:
    """Return the records of packages; raises ImproperlyConfigured if one needs a missing one."""
    records = [load(package) for package in packages]
    for package, record in zip(packages, records, strict=True):
        if missing := [name for name in record.needs if name not in packages]:
            raise ImproperlyConfigured(
                f"EXTENSIONS names {package!r}, which needs {missing[0]!r}. Name both or neither."
            )
    return records


def installed() -> list[Extension]:
    """Return the records of all installed extensions, in the order of the setting."""
    return [load(package) for package in settings.EXTENSIONS]


def merged(name: str) -> dict[str, Any]:
    """Return the merged mappings of a field of all records."""
    return {key: value for each in installed() for key, value in getattr(each, name).items()}


def places(name: Literal["results", "study", "pages"], core: Sequence[Place] = ()) -> list[Place]:
    """Return the core's pages with those of all records inserted at their places."""
    return placed(core, (place for each in installed() for place in getattr(each, name)))


def placed(core: Iterable[Any], others: Iterable[Any]) -> list[Any]:
    """Return a list of the core with others inserted before what they name, or last."""
    found = list(core)
    for each in others:
        names = [one.name for one in found]
        found.insert(names.index(each.before) if each.before in names else len(names), each)
    return found


def address(name: str, *args: str) -> str:
    """Return a URL that an extension may have; empty if no installed extension has it."""
    try:
        return reverse(name, args=args)
    except NoReverseMatch:
        return ""


def imported(name: str) -> Iterator[Any]:
    """Import the objects that a field of the records names."""
    for each in installed():
        if path := getattr(each, name):
            yield import_string(path)


def template_folders(root: Path) -> list[Path]:
    """Return the template folders of a project: its own, then those of its packages."""
    ours = [*root.glob("[a-z]*/templates"), *root.glob("extensions/[a-z]*/templates")]
    return [root / "templates", *sorted(ours)]
