"""Typeset a report as PDF with WeasyPrint, without fetching anything outside the document."""

from typing import Any

from django.conf import settings
from django.template.loader import render_to_string

from metaeval.messages import Message, message
from metaeval.reasons import reason_of

TEMPLATE = "dashboards/report_document.html"
STYLES = ("css/report.css",)


def pdf_of(document: Any) -> tuple[bytes, Message | None]:
    """Return a report's PDF, or no bytes and the reason."""
    try:
        from weasyprint import CSS, HTML
        from weasyprint.urls import URLFetcher
    except (ImportError, OSError) as error:
        problem = message(
            "report.no-pdf",
            "There is no PDF, because WeasyPrint cannot be loaded here ({error}). WeasyPrint needs "
            "Pango: apt install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0. The report "
            "as a page is complete and can be printed.",
            error=reason_of(error),
        )
        return b"", problem
    html = render_to_string(TEMPLATE, {"documents": [document], "is_pdf": True})
    styles = [CSS(filename=settings.BASE_DIR / "static" / name) for name in STYLES]
    # Only the document's own images may be loaded: no file, no address.
    fetcher = URLFetcher(allowed_protocols={"data"})
    drawn: bytes = HTML(string=html, url_fetcher=fetcher).write_pdf(stylesheets=styles)
    return drawn, None
