"""Show agreement over documents."""

from dashboards.pages.page import Page, routes
from dashboards.papers import latex
from extensions.documents.document import Documents
from metaeval.messages import message

TITLE = message("documents.title", "Agreement over documents")


def tables(document: Documents) -> list[latex.Table]:
    """Return r and τ-b of the metrics as one table."""
    body = [
        [
            *latex.texts(row.label),
            latex.estimate(row.r, row.r_low, row.r_high),
            latex.estimate(row.tau, row.tau_low, row.tau_high),
        ]
        for row in document.rows
    ]
    head = [latex.texts("Metric", "r", "τ-b")]
    caption = message(
        "documents.caption",
        "Agreement with the humans over {n} scores of {documents} documents, with 95% intervals.",
        n=document.n,
        documents=document.n_documents,
    )
    return [latex.Table([caption], f"{document.campaign}-documents", "lrr", head, body)]


DOCUMENTS = Page(
    name="documents",
    title=TITLE,
    kind="documents",
    template="documents/campaign.html",
    columns=("metric", "label", "is_own", "r", "r_low", "r_high", "tau", "tau_low", "tau_high"),
    tables=tables,
    has_unit=False,
)
urlpatterns = routes(DOCUMENTS)
