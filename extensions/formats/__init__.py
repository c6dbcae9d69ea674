"""Files of other tools: annotation tools, surveys, translation memories, and published layouts."""
