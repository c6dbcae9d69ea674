"""A report as PDF, laid out by WeasyPrint; nothing outside the document is ever fetched."""

from typing import Any

from django.conf import settings
from django.template.loader import render_to_string

TEMPLATE = "dashboards/report_document.html"
STYLES = ("css/report.css",)
MISSING = (
    "There is no PDF: WeasyPrint cannot be loaded here ({error}). It needs Pango from the system: "
    "apt install libpango-1.0-0 libpangoft2-1.0-0 libharfbuzz-subset0. The report as a page is "
    "complete, and prints."
)


def pdf_of(document: Any) -> tuple[bytes, str]:
    """Return a report's PDF and an empty string, or no bytes and why there are none."""
    try:
        from weasyprint import CSS, HTML
        from weasyprint.urls import URLFetcher
    except (ImportError, OSError) as error:
        return b"", MISSING.format(error=error)
    html = render_to_string(TEMPLATE, {"documents": [document], "is_pdf": True})
    styles = [CSS(filename=settings.BASE_DIR / "static" / name) for name in STYLES]
    # The document's own images, and nothing else: no file, no address.
    fetcher = URLFetcher(allowed_protocols={"data"})
    drawn: bytes = HTML(string=html, url_fetcher=fetcher).write_pdf(stylesheets=styles)
    return drawn, ""
