"""Background work: rows say what is wanted, Celery says who does it, one reconciliation repairs."""
