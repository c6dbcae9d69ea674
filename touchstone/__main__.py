"""`python -m touchstone`, as `touchstone`."""

from touchstone.command_line import main

main()
