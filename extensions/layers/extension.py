"""The extension that finds the layer of an encoder that agrees best with humans."""

from core.extensions import Extension, Place

EXTENSION = Extension(
    app="extensions.layers",
    urls="extensions.layers.urls",
    analyses={"layers": "extensions.layers.document"},
    slow=("layers",),
    results=(Place("layers", "Layers", before="scatter"),),
    study=(Place("layers", "Layers", "study-layers", tab="Layers", before="systems"),),
)
