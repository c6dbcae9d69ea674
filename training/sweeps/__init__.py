"""Jobs that differ in a few settings: started together, compared in a table, tested."""
