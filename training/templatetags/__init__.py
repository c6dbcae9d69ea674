"""Numbers of jobs as templates print them."""
