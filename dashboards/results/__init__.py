"""The first page of a campaign's results: the best metric, how certain that is, and its limits.

`ground` computes the parts that no other analysis has, `home` combines them with the comparisons of
metrics into a `document`, `answer` states the result, `steps` how to strengthen it, and `page`
shows it.
"""
