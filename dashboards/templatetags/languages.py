"""How a text of a language is marked up."""

from django import template

from core import languages

register = template.Library()
register.filter("direction", languages.direction)
