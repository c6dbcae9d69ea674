"""Compare judgments with scores: one folder per page, and modules that pages share."""
