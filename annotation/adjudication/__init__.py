"""Items on which annotators differ: finding them, deciding them, gold from the decisions."""
