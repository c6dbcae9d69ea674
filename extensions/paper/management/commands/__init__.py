"""`manage.py study_tables`."""
