"""manage.py messages: bring locale/ up to date with the texts of the code, and compile it.

What annotators read has every language, the rest the languages of `settings.READERS`. A text
without a translation is shown in English. A translation whose English text is gone stays in the
catalog, marked as obsolete, until `--drop`: the text may only have been reworded.

This does the work of Django's makemessages and compilemessages without GNU gettext: Babel reads
and writes the catalogs. The compiled catalogs are part of the repository.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po
from django.conf import settings
from django.core.management.base import CommandParser
from django.utils.translation import to_locale
from django.utils.translation.template import templatize

from annotation.interface import ENGLISH
from annotation.management.command_line import BaseCommand
from core.extensions import template_folders

# Folders without texts of pages.
NO_TEXTS = ("tests", "benchmarks")
KEYWORDS: dict[str, Any] = {
    "message": (2,),
    "invalid": (2,),
    "data_error": (2,),
    "if_missing": (2,),
    "warn_of": (3, 4),
    "note_of": (3, 4),
    "plural": (2, 3),
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
# Code whose texts annotators see.
ANNOTATORS_CODE = (
    "annotation/interface.py",
    "annotation/entry/*.py",
    "annotation/forms/judgments.py",
    "annotation/forms/welcome.py",
    "annotation/judging/*.py",
    "annotation/notifications/letters.py",
    "annotation/presets/filling.py",
    "annotation/protocols/published.py",
    "annotation/protocols/questions.py",
    "annotation/qualification/stopping.py",
    "annotation/templatetags/annotating.py",
    "annotation/views/judging/*.py",
    "annotation/views/people/accounts.py",
    "annotation/web/appearance.py",
    "annotation/web/errors.py",
    "core/messages.py",
    "metaeval/messages.py",
    "config/refusals.py",
)
# What annotators see, by folder or file below templates/. Everything else is researchers'.
ANNOTATORS = (
    "base.html",
    "*/_navigation.html",
    "*/_sign_in.html",
    "error.html",
    "_field.html",
    "_languages.html",
    "_messages.html",
    "registration/*.html",
    "accounts/own.html",
    "accounts/_sign_ins.html",
    "accounts/enter.html",
    "annotation/_around.html",
    "annotation/_item.html",
    "annotation/around.html",
    "annotation/_outbox.html",
    "annotation/background.html",
    "annotation/comprehension.html",
    "annotation/consent.html",
    "annotation/_pay.html",
    "annotation/_one_answer.html",
    "annotation/corrections.html",
    "annotation/declined.html",
    "annotation/done.html",
    "annotation/enter.html",
    "annotation/switch.html",
    "annotation/history.html",
    "annotation/home.html",
    "annotation/item.html",
    "annotation/not_open.html",
    "annotation/stopped.html",
    "annotation/unsent.html",
    "annotation/protocols/*.html",
    "django/forms/widgets/*.html",
)
HEADER = "# Texts of Touchstone, under the licence of Touchstone. See docs/translating.md."


@dataclass(frozen=True)
class Texts:
    """A set of texts: its place below locale/, its languages, and what finds them."""

    folder: str
    domain: str
    languages: tuple[str, ...]
    collect: Callable[[], Catalog]

    def path(self, language: str) -> Path:
        """Return the path of the catalog of a language."""
        place = Path(settings.BASE_DIR) / "locale" / self.folder / to_locale(language)
        return place / "LC_MESSAGES" / f"{self.domain}.po"

    def read(self, language: str) -> Catalog:
        """Return the catalog of a language as it is stored."""
        with self.path(language).open("rb") as file:
            return read_po(file, locale=to_locale(language))


def annotators_templates() -> list[Path]:
    """Return the templates that annotators see."""
    folders = template_folders(Path(settings.BASE_DIR))
    return sorted(
        path for folder in folders for pattern in ANNOTATORS for path in folder.glob(pattern)
    )


def annotators_code() -> list[Path]:
    """Return the modules whose texts annotators see."""
    root = Path(settings.BASE_DIR)
    return sorted(path for pattern in ANNOTATORS_CODE for path in root.glob(pattern))


def all_code() -> list[Path]:
    """Return the modules of the product."""
    root = Path(settings.BASE_DIR)
    packages = [each for each in root.iterdir() if (each / "__init__.py").exists()]
    found = [path for each in packages if each.name not in NO_TEXTS for path in each.rglob("*.py")]
    return sorted(path for path in found if "migrations" not in path.parts)


def collect() -> Catalog:
    """Return every text that annotators see, with the files that hold it."""
    return _collected([*annotators_code(), *annotators_templates()])


def collect_readers() -> Catalog:
    """Return the texts of researchers' pages that annotators do not see as well."""
    known, ours = collect(), {*annotators_templates(), *annotators_code()}
    folders = template_folders(Path(settings.BASE_DIR))
    templates = sorted(path for folder in folders for path in folder.rglob("*.html"))
    found = _collected([path for path in [*all_code(), *templates] if path not in ours])
    for message in list(found):
        if message.id and known.get(message.id, message.context):
            found.delete(message.id, message.context)
    return found


def _collected(paths: list[Path]) -> Catalog:
    catalog, root = Catalog(project="Touchstone", charset="utf-8"), Path(settings.BASE_DIR)
    for path in paths:
        for line, message, comments, context in _marked(path):
            where = [(path.relative_to(root).as_posix(), line)]
            catalog.add(message, None, where, auto_comments=comments, context=context)
    return catalog


LANGUAGES = tuple(code for code, _ in settings.LANGUAGES if code != ENGLISH)
READERS = tuple(code for code in settings.READERS if code != ENGLISH)
PAGES = Texts("", "django", LANGUAGES, collect)
READERS_PAGES = Texts("readers", "django", READERS, collect_readers)


def _marked(path: Path) -> Iterator[tuple[int, Any, list[str], str | None]]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        # Python's tokens are all that is wanted of it; blanks before a line would be indentation.
        text = "\n".join(line.lstrip() for line in templatize(text).splitlines())
    yield from extract("python", BytesIO(text.encode()), KEYWORDS, ["Translators:"])


def compiled(catalog: Catalog) -> bytes:
    """Return the catalog as programs read it."""
    buffer = BytesIO()
    write_mo(buffer, catalog)
    return buffer.getvalue()


class Command(BaseCommand):
    """Update and compile every catalog."""

    help = "Collect the texts to translate into locale/ and compile the catalogs (needs Babel)."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add what is only listed, or dropped."""
        only = parser.add_mutually_exclusive_group()
        only.add_argument(
            "--missing", action="store_true", help="list messages without a translation"
        )
        only.add_argument("--drop", action="store_true", help="drop obsolete translations")

    def handle(self, *args: Any, **options: Any) -> None:
        """Write the catalogs, or list what they lack."""
        for texts in (PAGES, READERS_PAGES):
            template = texts.collect()
            for language in texts.languages:
                catalog = updated(texts, language, template)
                missing = [each for each in catalog if each.id and not _is_complete(each)]
                if not options["missing"]:
                    if options["drop"]:
                        catalog.obsolete.clear()
                    _write(texts.path(language), catalog)
                self.stdout.write(
                    f"{texts.path(language).relative_to(settings.BASE_DIR)}: {len(catalog)} texts, "
                    f"{len(missing)} without a translation, {len(catalog.obsolete)} obsolete"
                )
                for each in missing if options["missing"] else ():
                    text = each.id if isinstance(each.id, str) else each.id[0]
                    self.stdout.write(f"  {' '.join(text.split())}")


def updated(texts: Texts, language: str, template: Catalog) -> Catalog:
    """Return the catalog of a language with the texts of a template; what is gone is obsolete."""
    path = texts.path(language)
    catalog = texts.read(language) if path.exists() else _empty(language)
    catalog.update(template, no_fuzzy_matching=True, update_creation_date=False)
    catalog.header_comment = HEADER
    return catalog


def _write(path: Path, catalog: Catalog) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalog, width=100, sort_by_file=True, include_lineno=False)
    path.with_suffix(".mo").write_bytes(compiled(catalog))


def _empty(language: str) -> Catalog:
    """Return an empty catalog with a constant header."""
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
