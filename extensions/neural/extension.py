"""Register the extension: encoders, and the families of metrics that use them.

MoverScore, SentSim, YiSi, cosine and word mover's distance are described like third-party plug-ins
(:class:`metrics.plugins.Plugin`). They keep their short keys, and their signatures contain their
own revision instead of the version of a package.
"""

from core.extensions import Extension

EXTENSION = Extension(
    app="extensions.neural",
    families={
        "bertscore": "extensions.neural.bertscore.options:BERTSCORE",
        "comet": "extensions.neural.checkpoints.options:COMET",
        "bleurt": "extensions.neural.checkpoints.options:BLEURT",
        "sentinel": "extensions.neural.checkpoints.options:SENTINEL",
        "metricx": "extensions.neural.checkpoints.options:METRICX",
        "xmoverscore": "extensions.neural.mover.options:FAMILY",
        "xbertscore": "extensions.neural.bertscore.options:XBERTSCORE",
        "refreeeval": "extensions.neural.trained.options:REFREEEVAL",
        "refreeeval-head": "extensions.neural.trained.options:HEAD",
        "trained-sentinel": "extensions.neural.trained.options:SENTINEL",
        "moverscore": "extensions.neural.moverscore.options:PLUGIN",
        "sentsim": "extensions.neural.sentences.options:SENTSIM_PLUGIN",
        "yisi": "extensions.neural.yisi.options:PLUGIN",
        "yisi-static": "extensions.neural.yisi.options:STATIC_PLUGIN",
        "yisi-0": "extensions.neural.yisi.options:LETTERS_PLUGIN",
        "cosine": "extensions.neural.sentences.options:COSINE_PLUGIN",
        "wmd": "extensions.neural.moverscore.options:WMD_PLUGIN",
    },
    metrics="extensions.neural.known.KNOWN",
)
