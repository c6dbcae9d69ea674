"""Django's engine for PostgreSQL, which asks less often whether its connection still holds."""
