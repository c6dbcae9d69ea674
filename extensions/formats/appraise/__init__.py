"""Read campaigns of Appraise: batches, manifest and exported scores, without changing the files.

- `TASK_TYPE` Direct, Document, Pairwise: segment, document and side-by-side direct assessment, with
  the source shown; with ESA or MQM, also in `TASK_OPTIONS`, these.
- A task, of any size: a batch; its items stay together and in order.
- `REDUNDANCY`, `TASKS_TO_ANNOTATORS`: every task goes to `REDUNDANCY` annotators, in equal shares.
- TGT, CHK, BAD, REF: output, repeat, bad reference, reference as output, each paired with its TGT.
- Documents `…#bad1`, `…#duplicate1`: paired, segment by segment, with the document they copy.
- `isCompleteDocument`: the rating of a whole document; skipped, with a warning, in ESA and MQM.
- `mqm` with `tutorial`: practice with feedback; a score may be 20 off, as in Appraise.
- `mqm` of items, errors marked beforehand: suggested errors. Whether ends are included is stated by
  the importing person, or inferred from the words; in scores, unchanged suggestions keep the ends
  of their batch.
"""

from extensions.formats.appraise.batches import AS_TARGET, LEFT_OUT, UNMATCHED
from extensions.formats.appraise.read import read

__all__ = ["AS_TARGET", "LEFT_OUT", "UNMATCHED", "read"]
