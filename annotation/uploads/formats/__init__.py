"""Read files of other tools as tables; `registry` declares how each format is recognised."""
