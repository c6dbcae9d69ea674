"""Numbers of runs, checkpoints and workers as templates print them."""
