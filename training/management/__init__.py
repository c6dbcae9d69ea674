"""Commands of manage.py for training."""
