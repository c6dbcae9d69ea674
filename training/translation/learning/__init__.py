"""The training of a translation model: pairs, trainer, what is measured meanwhile, the job."""
