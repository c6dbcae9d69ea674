"""Stage 3, open pool: who gets which screen next, by need, and what becomes of stale claims."""

from annotation.pool.claiming import claim, give_ahead, give_next, has_pool

__all__ = ["claim", "give_ahead", "give_next", "has_pool"]
