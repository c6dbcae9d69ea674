"""Score with MetricX-23 and MetricX-24: mT5 models that predict an error from 0 to 25."""
