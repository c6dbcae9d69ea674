"""Forms of the pages for data sets, metric families and runs."""
