"""Pages of people: who takes part and by which link, mails that bring links, accounts."""
