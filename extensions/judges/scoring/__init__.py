"""From outputs to questions, and from replies to verdicts and scores."""
