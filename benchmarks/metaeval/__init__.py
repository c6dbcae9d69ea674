"""Statistics: how fast, and how often an interval covers and a test errs."""
