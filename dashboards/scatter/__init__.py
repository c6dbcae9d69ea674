"""The page of metric against human, output by output."""
