"""Language models as judges, asked over the chat completions of any OpenAI-compatible server."""
