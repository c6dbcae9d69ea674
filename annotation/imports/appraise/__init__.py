"""Campaigns of Appraise: batches, manifest and exported scores, read as they are.

- `TASK_TYPE` Direct, Document, Pairwise: segment, document and side-by-side direct assessment, with
  the source shown; with ESA or MQM, also in `TASK_OPTIONS`, these.
- A task, of any size: a batch; its items stay together and in order.
- `REDUNDANCY`, `TASKS_TO_ANNOTATORS`: every task goes to `REDUNDANCY` annotators, in equal shares.
- TGT, CHK, BAD, REF: output, repeat, bad reference, reference as output, each paired with its TGT.
- Documents `…#bad1`, `…#duplicate1`: paired, segment by segment, with the document they copy.
- `isCompleteDocument`: the rating of a whole document; left out, with a warning, in ESA and MQM.
- `mqm` with `tutorial`: practice with feedback; a score may be 20 off, as in Appraise.
- `mqm` of items, errors marked beforehand: suggested errors. Whether ends are included is asked, or
  the words say; in scores, what was left as it was keeps the ends of its batch.
"""

from annotation.imports.appraise.batches import AS_TARGET, LEFT_OUT, UNMATCHED
from annotation.imports.appraise.doubts import CODE
from annotation.imports.appraise.read import read

__all__ = ["AS_TARGET", "CODE", "LEFT_OUT", "UNMATCHED", "read"]
