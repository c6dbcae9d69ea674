"""Commands of manage.py for test sets, campaigns and judgments."""
