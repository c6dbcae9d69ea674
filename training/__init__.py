"""Training of metrics and of length-controllable systems. Nothing is trained here yet."""
