"""What judges rest on: endpoints, templates, kept replies, budgets, and what a run says of them."""
