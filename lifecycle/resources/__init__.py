"""Resource types: who owns a resource, what is deleted with it, what prevents deletion."""

from typing import Any

from core import extensions
from lifecycle.resources.projects import Projects
from lifecycle.resources.resource_type import ResourceType
from lifecycle.resources.scores import Imports, Metrics, Runs
from lifecycle.resources.test_sets import Campaigns, Systems, TestSets

RESOURCE_TYPES: dict[str, ResourceType[Any]] = {
    kind.name: kind
    for kind in (
        Campaigns(),
        TestSets(),
        Systems(),
        Metrics(),
        Imports(),
        Runs(),
        Projects(),
        *(each for types in extensions.imported("types") for each in types),
    )
}

__all__ = ["RESOURCE_TYPES", "ResourceType"]
