"""Compare metrics by one statistic, and select the parts that a reader chose."""
