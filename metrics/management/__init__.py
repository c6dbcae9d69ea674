"""Commands of manage.py for metrics, scores and checkpoints."""
