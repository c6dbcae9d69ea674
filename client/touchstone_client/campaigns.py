"""One campaign: its people, its state, its judgments and its results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from touchstone_client.requests import Session
from touchstone_client.tables import Table, read_csv


class Campaign:
    """A campaign on the server. `facts` are its settings and progress when it was last read."""

    def __init__(self, session: Session, facts: dict[str, Any]) -> None:
        self.session = session
        self.facts = facts
        self.slug: str = facts["slug"]
        self.address = f"/api/campaigns/{self.slug}/"

    def __repr__(self) -> str:
        done, assigned = self.facts.get("n_completed"), self.facts.get("n_assigned")
        return f"<Campaign {self.slug}: {self.facts.get('status')}, {done} of {assigned} rated>"

    @property
    def links(self) -> list[dict[str, Any]]:
        """The links of annotators that came with the campaign's file; only just after it."""
        return list(self.facts.get("links", ()))

    def refresh(self) -> Campaign:
        """Read settings and progress again."""
        self.facts = self.session.get(self.address)
        return self

    def change(self, **settings: Any) -> Campaign:
        """Change settings of a draft; the others stay as they are."""
        self.facts = self.session.change(self.address, settings)
        return self

    def add_annotators(
        self,
        count: int = 0,
        *,
        users: Sequence[str] = (),
        addresses: Sequence[str] = (),
        expires_at: str | None = None,
    ) -> list[dict[str, Any]]:
        """Add annotators; return the personal links of new ones, which are shown only now."""
        given = {"count": count, "users": list(users), "addresses": list(addresses)}
        answer = self.session.post(f"{self.address}people/", given | {"expires_at": expires_at})
        links: list[dict[str, Any]] = answer["links"]
        return links

    def annotators(self) -> Table:
        """Return the annotators with their progress."""
        return self.session.table(f"{self.address}people/")

    def exclude(self, annotator: int, reason: str) -> dict[str, Any]:
        """Exclude an annotator, by `id`, from all analyses."""
        return self._decide(annotator, "exclude", {"reason": reason})

    def include(self, annotator: int, reason: str) -> dict[str, Any]:
        """Include an excluded annotator again."""
        return self._decide(annotator, "include", {"reason": reason})

    def reassign(self, annotator: int) -> dict[str, Any]:
        """Give the items of an excluded annotator to others."""
        return self._decide(annotator, "reassign", {})

    def renew_link(self, annotator: int, expires_at: str | None = None) -> dict[str, Any]:
        """Replace the personal link of an annotator."""
        return self._decide(annotator, "renew", {"expires_at": expires_at})

    def _decide(self, annotator: int, verb: str, values: dict[str, Any]) -> dict[str, Any]:
        address = f"{self.address}people/{annotator}/{verb}/"
        answer: dict[str, Any] = self.session.post(address, values)
        return answer

    def add_access_link(self, provider: str = "open", **options: Any) -> dict[str, Any]:
        """Make a link for many annotators, such as from Prolific (`prolific`)."""
        answer: dict[str, Any] = self.session.post(
            f"{self.address}links/", {"provider": provider, **options}
        )
        return answer

    def open(self) -> Campaign:
        """Let annotators start; also opens a closed campaign again."""
        self.facts = self.session.post(f"{self.address}open/")
        return self

    def close(self) -> Campaign:
        """Stop taking judgments."""
        self.facts = self.session.post(f"{self.address}close/")
        return self

    def notices(self) -> Table:
        """Return e-mails and webhooks about the campaign, newest first, with their outcome."""
        return self.session.table(f"{self.address}notices/")

    def file(self) -> dict[str, Any]:
        """Return the campaign as one file, from which it can be made again."""
        found: dict[str, Any] = self.session.get(f"{self.address}file/")
        return found

    def judgments(self, **filters: Any) -> Table:
        """Return all judgments with their history; `filters` are those of the API."""
        return self.session.table("/api/judgments/", campaign=self.slug, **filters)

    def results(self, **choices: Any) -> dict[str, Any]:
        """Return correlations and quality, once they are computed."""
        address = f"/api/results/{self.slug}/"
        found: dict[str, Any] = self.session.finished(address, **choices).json()
        return found

    def table(self, page: str, **choices: Any) -> Table:
        """Return the table of a result page, such as `correlations` or `systems`.

        `choices` are those of the page's address.
        """
        return read_csv(self.session.text(f"/campaigns/{self.slug}/{page}.csv", **choices))

    def export(self, form: str = "csv", **filters: Any) -> bytes:
        """Return the judgments in one of the formats of the page Export."""
        address = f"/campaigns/{self.slug}/export/{form}/"
        return self.session.finished(address, **filters).content
