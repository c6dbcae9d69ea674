"""Working time and pay of annotators."""
