"""manage.py messages: bring locale/ up to date with the texts of the code, and compile it.

The work of Django's makemessages and compilemessages, without GNU gettext: Babel reads and writes
the catalogs. Babel is a development dependency; the compiled catalogs are part of the repository.
"""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.core.management.base import BaseCommand
from django.utils.translation import to_locale
from django.utils.translation.template import templatize

CODE = ("annotation", "config")
KEYWORDS: dict[str, Any] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
SOURCE_LANGUAGE = "en"
HEADER = "# Texts of Touchstone, under the licence of Touchstone. See docs/translating.md."


def languages() -> list[str]:
    """Every language that needs a catalog."""
    return [code for code, _ in settings.LANGUAGES if code != SOURCE_LANGUAGE]


def catalog_path(language: str) -> Path:
    """Where the catalog of a language lies."""
    return Path(settings.LOCALE_PATHS[0]) / to_locale(language) / "LC_MESSAGES" / "django.po"


def collect() -> Catalog:
    """Return every text that is marked for translation, with the files that hold it."""
    catalog = Catalog(project="Touchstone", charset="utf-8")
    root = Path(settings.BASE_DIR)
    for path in _sources(root):
        for line, message, comments, context in _marked(path):
            where = [(path.relative_to(root).as_posix(), line)]
            catalog.add(message, None, where, auto_comments=comments, context=context)
    return catalog


def _sources(root: Path) -> Iterator[Path]:
    for folder in CODE:
        yield from sorted((root / folder).rglob("*.py"))
    yield from sorted((root / "templates").rglob("*.html"))


def _marked(path: Path) -> Iterator[tuple[int, Any, list[str], str | None]]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        # Python's tokens are all that is wanted of it; blanks before a line would be indentation.
        text = "\n".join(line.lstrip() for line in templatize(text).splitlines())
    yield from extract("python", BytesIO(text.encode()), KEYWORDS, ["Translators:"])


def read(language: str) -> Catalog:
    """Return the catalog of a language as it is stored."""
    with catalog_path(language).open("rb") as file:
        return read_po(file, locale=to_locale(language))


def compiled(catalog: Catalog) -> bytes:
    """Return the catalog as programs read it."""
    buffer = BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


class Command(BaseCommand):
    """Update and compile every catalog."""

    help = "Collect the texts to translate into locale/ and compile the catalogs (needs Babel)."

    def handle(self, *args: Any, **options: Any) -> None:
        """Tell how many texts are still to be translated."""
        template = collect()
        for language in languages():
            catalog = self._update(language, template)
            missing = sum(1 for message in catalog if message.id and not _is_complete(message))
            self.stdout.write(f"{language}: {len(catalog)} texts, {missing} to be translated")

    def _update(self, language: str, template: Catalog) -> Catalog:
        path = catalog_path(language)
        path.parent.mkdir(parents=True, exist_ok=True)
        catalog = read(language) if path.exists() else _empty(language)
        catalog.update(template, no_fuzzy_matching=True, update_creation_date=False)
        catalog.obsolete.clear()
        catalog.header_comment = HEADER
        with path.open("wb") as file:
            write_po(file, catalog, width=100, sort_by_file=True, include_lineno=False)
        path.with_suffix(".mo").write_bytes(compiled(catalog))
        return catalog


def _empty(language: str) -> Catalog:
    """A catalog whose head says nothing that would have to be kept up to date."""
    return Catalog(
        to_locale(language),
        project="Touchstone",
        version="0.1",
        msgid_bugs_address="docs/translating.md",
        language_team="none",
        last_translator="none",
        fuzzy=False,
    )


def _is_complete(message: Any) -> bool:
    strings = message.string if isinstance(message.string, tuple) else (message.string,)
    return not message.fuzzy and all(strings)
