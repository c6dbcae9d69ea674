"""What the views of all apps share: refusals, parameters of addresses, lists by pages."""
