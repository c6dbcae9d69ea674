"""Register the extension: encoders, and the families of metrics that use them.

MoverScore, SentSim, YiSi, cosine and word mover's distance are described like third-party plug-ins
(:class:`metrics.plugins.Plugin`). They keep their short keys, and their signatures contain their
own revision instead of the version of a package.
"""

from core.extensions import Extension

EXTENSION = Extension(
    app="extensions.neural",
    families={
        "bertscore": "extensions.neural.bertscore.options:FAMILY",
        "comet": "extensions.neural.comet.options:FAMILY",
        "bleurt": "extensions.neural.bleurt.options:FAMILY",
        "sentinel": "extensions.neural.comet.sentinel_options:FAMILY",
        "metricx": "extensions.neural.metricx.options:FAMILY",
        "xmoverscore": "extensions.neural.xmoverscore.options:FAMILY",
        "xbertscore": "extensions.neural.xbertscore.options:FAMILY",
        "refreeeval": "extensions.neural.refreeeval.options:FAMILY",
        "refreeeval-head": "extensions.neural.refreeeval.head_options:FAMILY",
        "trained-sentinel": "extensions.neural.sentinels.options:FAMILY",
        "moverscore": "extensions.neural.moverscore.options:PLUGIN",
        "sentsim": "extensions.neural.sentsim.options:PLUGIN",
        "yisi": "extensions.neural.yisi.options:PLUGIN",
        "yisi-static": "extensions.neural.yisi.options:STATIC_PLUGIN",
        "yisi-0": "extensions.neural.yisi.options:LETTERS_PLUGIN",
        "cosine": "extensions.neural.cosine.options:PLUGIN",
        "wmd": "extensions.neural.wmd.options:PLUGIN",
    },
    metrics="extensions.neural.known.KNOWN",
)
