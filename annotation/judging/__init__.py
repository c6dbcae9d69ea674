"""From an annotator's screen to the stored judgment."""
