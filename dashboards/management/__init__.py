"""Commands of manage.py for the demo and for results."""
