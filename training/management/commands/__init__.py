"""Commands that import parallel text, start jobs and sweeps, and analyse preferences."""
