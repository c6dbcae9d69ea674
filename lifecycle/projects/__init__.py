"""Projects on pages and in the API: what they hold, their people, and their limits."""
