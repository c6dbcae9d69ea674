"""Several campaigns taken together: tables, averages, pages."""
