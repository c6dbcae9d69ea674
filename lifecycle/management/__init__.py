"""Django’s commands of this app."""
