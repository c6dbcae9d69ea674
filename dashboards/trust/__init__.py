"""What limits trust in a campaign's numbers: one verdict, read wherever the numbers are read.

`reasons` says what a reason is and what several come to, `reading` how fast one can read,
`judging` and `amount` find the reasons, `verdict` puts them into a document, `marks` decides what
may be bold or ranked under it, and `shown` brings it to pages, studies and files.
"""
