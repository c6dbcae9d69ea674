"""ReFreeEval: a reference-free metric trained by contrast on parallel text."""
