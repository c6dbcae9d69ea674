"""Store uploaded files of scores and spans until they are confirmed.

The files may have rows of several language pairs: each test set of their sender imports its own.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from annotation.access import may_change_test_set, visible_test_sets
from annotation.models import TestSet, listed
from annotation.uploads import InputFile, waiting
from core import languages

PURPOSE = "metrics.imported.waiting"


def keep(files: Sequence[InputFile], user_id: int) -> str:
    """Store the files and return a token for this user only."""
    named = {f"file{n}": file for n, file in enumerate(files)}
    return waiting.keep_files({}, named, user_id=user_id, purpose=PURPOSE)


def recall(token: str, user_id: int) -> list[InputFile]:
    """Read the files back. Raises `waiting.ExpiredError`."""
    return list(waiting.recall_files(token, user_id=user_id, purpose=PURPOSE)[1].values())


def forget(token: str, user_id: int) -> None:
    """Delete the files after they were stored."""
    waiting.forget(token, user_id=user_id, purpose=PURPOSE)


def others(test_set: TestSet, pairs: Iterable[tuple[str, str]], user: Any) -> list[TestSet]:
    """Return the other test sets that may take rows of the files: those of their other pairs."""
    wanted = {_bare(pair) for pair in pairs} - {
        _bare((test_set.source_language, test_set.target_language))
    }
    return [each for each in mine(user) if wanted
            and _bare((each.source_language, each.target_language)) in wanted]  # fmt: skip


def named(slugs: Iterable[str], user: Any) -> list[TestSet]:
    """Return test sets by their slugs."""
    return [each for each in mine(user) if each.slug in set(slugs)]


def mine(user: Any) -> list[TestSet]:
    """Return the test sets with systems to which a user may add scores."""
    rows = listed(visible_test_sets(user).filter(systems__isnull=False)).distinct()
    return [each for each in rows.order_by("name") if may_change_test_set(user, each)]


def _bare(pair: tuple[str, str]) -> tuple[str, ...]:
    return tuple(languages.bare(code) if code else "" for code in pair)
