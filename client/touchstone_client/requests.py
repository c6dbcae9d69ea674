"""Requests to a server: authorised, repeated where that is safe, with errors as exceptions."""

from __future__ import annotations

import random
import re
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx

from touchstone_client.tables import Table
from touchstone_client.waiting import DOCUMENTS, IMPORTS, Wait

# What a server answers that is overloaded or restarts; 429 asks to wait.
TEMPORARY = frozenset({429, 502, 503, 504})
ATTEMPTS = 6
LONGEST_PAUSE = 60.0
PAGE = 1_000
# A result, or an import, that waits for a worker.
UNFINISHED = 202
Files = Sequence[tuple[str, str | Path]]


class TouchstoneError(Exception):
    """The server refused a request.

    `status` is the HTTP status, `code` the code of the first message, and `errors` has each error
    with its field, and for files with file and row.
    """

    def __init__(self, status: int, problem: Mapping[str, Any]) -> None:
        self.status = status
        self.code: str = problem.get("code") or ""
        self.detail: str = problem.get("detail") or f"HTTP status {status}"
        self.errors: list[dict[str, Any]] = list(problem.get("errors") or ())
        self.problem = dict(problem)
        super().__init__("\n".join([self.detail, *map(_line, self.errors)]))


def _line(error: Mapping[str, Any]) -> str:
    place = [str(error[name]) for name in ("file", "row", "field") if error.get(name)]
    return f"  {', '.join(place)}: {error['detail']}" if place else f"  {error['detail']}"


class Session:
    """A connection to one server with one token.

    `timeout` is for one request. `wait_limit` is for a result or an import that a worker computes,
    in seconds; None waits until the end.
    """

    def __init__(
        self,
        url: str,
        token: str,
        *,
        timeout: float = 300.0,
        wait_limit: float | None = None,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.sleep = sleep
        self.wait_limit = wait_limit
        self._schema: Any = None
        self.http = httpx.Client(
            base_url=url,
            timeout=timeout,
            transport=transport,
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
        )

    def get(self, path: str, **params: Any) -> Any:
        """Return what an address has; a parameter that is None is omitted."""
        return self._send("GET", path, params=_query(params)).json()

    def text(self, path: str, **params: Any) -> str:
        """Return a file of a page, once it is computed."""
        return self.finished(path, **params).text

    def finished(self, path: str, **params: Any) -> httpx.Response:
        """Return an answer that a worker computes, when it is complete."""
        wait = self.wait()
        while True:
            answer = self._send("GET", path, params=_query(params))
            if answer.status_code != UNFINISHED:
                return answer
            wait.pause(_pause(answer, 0), DOCUMENTS)

    def wait(self, limit: float | None = None) -> Wait:
        """Begin a wait, with the limit of the session unless another is given."""
        return Wait(self.wait_limit if limit is None else limit, self.sleep, self._workers)

    def _workers(self) -> list[dict[str, Any]] | None:
        try:
            return list(self.pages("/api/workers/"))
        except TouchstoneError:  # The account may not read them, or the server has no such page.
            return None

    def pages(self, path: str, **params: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of a list, page after page."""
        page = self.get(path, **{"limit": PAGE, **params})
        yield from page["results"]
        while page["next"]:
            page = self.get(page["next"])
            yield from page["results"]

    def table(self, path: str, **params: Any) -> Table:
        """Return all rows of a list."""
        rows = list(self.pages(path, **params))
        return Table(rows, () if rows else self.columns(path))

    def columns(self, path: str) -> list[str]:
        """Return the names in the rows of a list, or in an object, as the server describes them."""
        if self._schema is None:
            self._schema = self.get("/api/schema/", format="json")
        schemas = self._schema["components"]["schemas"]
        for address, verbs in self._schema["paths"].items():
            if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", address), path):
                found = verbs["get"]["responses"]["200"]["content"]["application/json"]["schema"]
                names = _properties(found, schemas)
                rows = names.get("results")
                return list(_properties(rows["items"], schemas) if rows else names)
        return []

    def post(self, path: str, values: Mapping[str, Any] | None = None) -> Any:
        """Send JSON, and return the answer."""
        return self._send("POST", path, json=_given(values or {})).json()

    def change(self, path: str, values: Mapping[str, Any]) -> Any:
        """Send what changes as JSON, and return the answer; None is a value."""
        return self._send("PATCH", path, json=dict(values)).json()

    def upload(self, path: str, values: Mapping[str, Any], files: Files) -> Any:
        """Send a form with files, and return the answer, also of a worker that imports them."""
        sent = [(name, (Path(file).name, Path(file).read_bytes())) for name, file in files]
        data = {name: _as_field(value) for name, value in _given(values).items()}
        answer = self._send("POST", path, data=data, files=sent)
        began = answer.headers.get("Location")
        if answer.status_code != UNFINISHED or not began:
            return answer.json()
        return self._imported(began)

    def _imported(self, address: str) -> dict[str, Any]:
        """Return an import once a worker has ended it, with its `problems` like other answers."""
        wait = self.wait()
        while "Retry-After" in (answer := self._send("GET", address)).headers:
            wait.pause(_pause(answer, 0), IMPORTS)
        row = answer.json()
        problems = row["report"]
        if row["state"] in ("refused", "cancelled"):
            errors = [{**each, "detail": each["text"]} for each in problems
                      if each["severity"] == "error"]  # fmt: skip
            code = errors[0]["code"] if errors else ""
            detail = f"The import was {row['state']}; nothing was stored."
            # Warnings are in `problem`, as they are where no worker was needed.
            refusal = {"detail": detail, "code": code, "errors": errors, "problems": problems}
            raise TouchstoneError(400, refusal)
        done = {"stored": row["state"] == "stored", "problems": problems}
        return {**row["stored"], **done, "links": row.get("links", [])}

    def delete(self, path: str) -> None:
        """Delete what an address has."""
        self._send("DELETE", path)

    def _send(self, method: str, path: str, **content: Any) -> httpx.Response:
        """Send a request until it has an answer; a change always with the same key."""
        headers = {} if method == "GET" else {"Idempotency-Key": str(uuid.uuid4())}
        for attempt in range(ATTEMPTS):
            is_last = attempt + 1 == ATTEMPTS
            try:
                answer = self.http.request(method, path, headers=headers, **content)
            except httpx.TransportError:
                if is_last:
                    raise
                self.sleep(_backoff(attempt))
                continue
            if answer.status_code not in TEMPORARY or is_last:
                break
            self.sleep(_pause(answer, attempt))
        if answer.status_code >= 400:
            raise TouchstoneError(answer.status_code, _problem(answer))
        if answer.is_redirect:
            text = "The server answers with a redirect: check its address, and https or http."
            raise TouchstoneError(answer.status_code, {"detail": text})
        return answer


def _properties(schema: Mapping[str, Any], schemas: Mapping[str, Any]) -> dict[str, Any]:
    """Return the properties of an object of the API's description, by name."""
    found: dict[str, Any] = schemas[schema["$ref"].rpartition("/")[2]]["properties"]
    return found


def _query(values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the parameters; None keeps those of the address, which an empty dictionary removes."""
    return _given(values) or None


def _given(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _as_field(value: Any) -> Any:
    return str(value).lower() if isinstance(value, bool) else value


def _problem(answer: httpx.Response) -> dict[str, Any]:
    try:
        found = answer.json()
    except ValueError:
        found = None
    return found if isinstance(found, dict) else {}


def _backoff(attempt: int) -> float:
    """Return a pause that doubles, with some chance, so that clients do not return at once."""
    return min(LONGEST_PAUSE, 2.0**attempt) * random.uniform(0.5, 1)


def _pause(answer: httpx.Response, attempt: int) -> float:
    asked = answer.headers.get("Retry-After", "")
    return min(LONGEST_PAUSE, float(asked)) if asked.isdigit() else _backoff(attempt)
