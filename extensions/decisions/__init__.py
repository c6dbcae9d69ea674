"""Pages on the use of metrics: what a difference means, hard segments, metrics combined."""
