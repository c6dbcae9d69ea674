"""Score with sentinels trained here: predictions from the source, the output or lengths only."""
