"""Forms, one module a stage."""
