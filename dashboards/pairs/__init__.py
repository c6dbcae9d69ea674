"""Compare two systems, or two metrics, and show the texts on which they differ most."""
