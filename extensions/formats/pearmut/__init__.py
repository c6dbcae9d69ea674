"""Read campaigns of Pearmut without changing their files.

- Protocol DA: with one model an item segment direct assessment, or that of documents where they
  have several items; with several models side by side. ESA, MQM: the same, one output after the
  other.
- cESA, also where no protocol is named: contrastive ESA, a document a screen, its models as
  columns, shuffled unless `shuffle` is false; a document's segments need the same models.
  `special_tokens` are the campaign's.
- `instructions` of an item: a note above the segment; `instructions_goodbye`: a plain text after
  the last item.
- `task-based`: a batch per task, one annotator each. `single-stream`, the default: a batch per
  screen, assigned to the `users` in equal shares. `data` by user, as in stored campaigns: a batch
  per user.
- `dynamic`, `dynamic_models`, `dynamic_coldstart`, `data_random_prob`: dynamic assignment without
  exploration, with enough screens per document for each output to be on about one; gold items come
  at random. Systems are assigned to screens instead, `dynamic_models` each, if a screen has one
  system or all of them, if documents have different systems, if errors are marked beforehand, or
  with a log.
- `validation` with `skippable` or `allow_skip`, and `data_welcome`: practice, with `score` as range
  and `warning` as feedback. Other `validation`, and `data_random`: gold.
- `error_spans` and `score_greaterthan` in `validation`: rules in addition to the range, for
  feedback on practice items and for gold items. An error of that severity begins and ends within
  those bounds; the score is higher than that of the other output on the screen. If rules are named
  after sliders, the range of the first one counts.
- `error_spans`: suggested errors. Whether ends are included is stated by the importing person, or
  inferred from the words; errors without a severity are skipped.
- `token_pass`, `token_fail` of `users`, `validation_threshold`: completion codes of the personal
  links, in their order, shown after the last item: the first to annotators who fail at most
  `validation_threshold` control items (below 1: that share of them), the second to the others. A
  missing code is drawn at random; each shown code is stored and shown again.
- `sliders`, also `[]`: the campaign's own scales, whole numbers from 0 to 100. `textfield`:
  `prefilled` is post-editing; an empty text field is the comment here.
- `mqm_categories`, `mqm_severities` of MQM: its own taxonomy. The file has no weights: neutral
  is 0, minor 1, major 5, critical 10, and any other 1, with a warning. Categories that annotators
  type freely (`input`) are skipped.
- `src` that is one tag, `<audio>`, `<video>` or `<img>`: a recording or picture, whose file is sent
  with the campaign; tags that run code or fetch from other sites are refused.
- Without effect, with a warning for each, while the stored file keeps them: `token`;
  `validation_threshold` without codes; `data_random_prob` without `dynamic`; forms and
  `data_goodbye`; settings of the design of pages and of the order of screens; special tokens other
  than those of cESA; tags of media in outputs; unknown keys of items.
"""

from extensions.formats.pearmut.read import read

__all__ = ["read"]
