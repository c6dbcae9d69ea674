"""Extensions: the core without any, and one that follows docs/extensions.md."""
