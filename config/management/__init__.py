"""Commands of manage.py that are about all of Touchstone."""
