"""Asking an endpoint: HTTP, many calls at once, and the budget that they are paid from."""
