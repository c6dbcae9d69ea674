"""Determine how far a campaign's numbers can be trusted: one verdict for all pages.

`dashboards.documents.reasons` defines reasons and the verdict that follows from them. `reading`
estimates reading times, `judging` and `amount` find reasons, `verdict` computes the document,
`marks` decides what may be bold or ranked, and `shown` adds the verdict to pages, studies and
files.
"""
