"""Load models, keep them in memory, set their precision, and compute their vectors. Imports torch."""
