"""`manage.py lifecycle`."""
