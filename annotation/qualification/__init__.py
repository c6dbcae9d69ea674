"""Whether somebody may rate: the comprehension test before the first item, and stops after it."""
