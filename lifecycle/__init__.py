"""What becomes of things: renamed, copied, archived, deleted; one way for all kinds."""
