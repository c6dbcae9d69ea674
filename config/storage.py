"""Static files with hashed names, also inside ES module imports."""

from whitenoise.storage import CompressedManifestStaticFilesStorage


class ModuleManifestStorage(CompressedManifestStaticFilesStorage):  # type: ignore[misc]
    """WhiteNoise's storage, with the paths in `import` statements rewritten to hashed names."""

    support_js_module_import_aggregation = True
