"""Mark up texts of a language."""

from django import template

from core import languages

register = template.Library()
register.filter("direction", languages.direction)
