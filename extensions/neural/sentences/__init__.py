"""Compare sentence vectors: COSINE, and SentSim, which adds token vectors."""
