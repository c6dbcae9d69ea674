"""Figures: pure functions from a page's document to a Vega-Lite specification.

A page names its figures in its record (`dashboards.pages.page.Page.figures`). A figure's function
returns None where its document has nothing to draw. `description` says in words what a figure
shows; a specification without one is refused (`dashboards.charts.files`).
"""
