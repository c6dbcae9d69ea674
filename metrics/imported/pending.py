"""Store uploaded score files until they are confirmed."""

import base64
from collections.abc import Sequence

from annotation.uploads import InputFile, waiting

PURPOSE = "metrics.imported.waiting"


def keep(test_set: str, files: Sequence[InputFile], user_id: int) -> str:
    """Store the files and return a token for this user and this test set."""
    encoded = []
    for file in files:
        with file.open() as stream:
            encoded.append([file.name, base64.b64encode(stream.read()).decode()])
    return waiting.keep({"files": encoded}, user_id=user_id, purpose=f"{PURPOSE}.{test_set}")


def recall(token: str, test_set: str, user_id: int) -> list[InputFile]:
    """Read the files back. Raises `waiting.ExpiredError`."""
    values = waiting.recall(token, user_id=user_id, purpose=f"{PURPOSE}.{test_set}")
    return [InputFile.holding(name, base64.b64decode(data)) for name, data in values["files"]]


def forget(token: str, test_set: str, user_id: int) -> None:
    """Delete the files after they were stored."""
    waiting.forget(token, user_id=user_id, purpose=f"{PURPOSE}.{test_set}")
