"""Read published data sets, with one reader for each."""
