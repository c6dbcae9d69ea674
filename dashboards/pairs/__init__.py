"""Two systems, or two metrics, against each other, and the texts on which they differ most."""
