"""The report: one document with a campaign's quality, tables, figures and methods."""
