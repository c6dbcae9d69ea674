"""Documents of the dashboards, and their readers, on crowd data."""
