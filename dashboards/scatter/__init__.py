"""Plot a metric against the humans, output by output."""
