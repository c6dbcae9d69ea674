"""The first page of a campaign's results: which metric, how sure that is, and what limits it.

`ground` computes what no other analysis has, `home` puts it together with the comparisons of
metrics as a `document`, `answer` says it in a sentence, `steps` what would make it surer, and
`page` shows it.
"""
