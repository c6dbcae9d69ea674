"""The tables and figures of a paper on a study."""
