"""Every table and figure of a paper on a study, in the layout of Cheng et al. (2023), at once."""
