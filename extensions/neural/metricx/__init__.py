"""MetricX-23 and MetricX-24: mT5 that writes one number, an error from 0 to 25."""
