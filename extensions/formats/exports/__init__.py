"""Write judgments and campaigns as other tools and publications have them."""
