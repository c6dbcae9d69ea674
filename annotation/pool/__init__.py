"""Stage 3, open pool: assign screens on request, by need, and release stale claims."""

from annotation.pool.claiming import claim, give_ahead, give_next, has_pool

__all__ = ["claim", "give_ahead", "give_next", "has_pool"]
