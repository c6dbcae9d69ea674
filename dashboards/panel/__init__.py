"""A campaign as arrays: human scores and the scores of all measures on one grid."""
