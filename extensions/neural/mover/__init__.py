"""Share definitions, n-grams and distances between MoverScore and XMoverScore."""
