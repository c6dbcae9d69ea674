"""Commands of manage.py for neural metrics."""
