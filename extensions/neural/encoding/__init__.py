"""Load models, keep them in memory, set their precision, compute vectors. Imports torch."""
