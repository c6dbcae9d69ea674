"""Read files of other tools as tables under the names of our fields."""
