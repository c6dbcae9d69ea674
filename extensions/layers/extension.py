"""The extension that finds the layer of an encoder that agrees best with humans."""

from django.utils.translation import gettext_lazy as _

from core.extensions import Extension, Place

EXTENSION = Extension(
    app="extensions.layers",
    urls="extensions.layers.page",
    analyses={"layers": "extensions.layers.document"},
    slow=("layers",),
    results=(
        Place(
            "layers",
            _("Layers"),
            needs="extensions.layers.document:has_layers",
            before="scatter",
        ),
    ),
    study=(Place("layers", _("Layers"), "study-layers", tab=_("Layers"), before="systems"),),
)
