"""Campaigns of Pearmut, read as they are.

- Protocol DA: with one model an item segment direct assessment, or that of documents where they
  have several items; with several models side by side. ESA, MQM: the same, one output after the
  other.
- cESA, also where no protocol is named: contrastive ESA, a document a screen, its models as
  columns, shuffled unless `shuffle` is false; a document's segments need the same models.
  `special_tokens` are the campaign's.
- `instructions` of an item: a note above the segment; `instructions_goodbye`: words after the last
  item, as plain text.
- `task-based`: a batch a task, one annotator each. `single-stream`, also where none is named: a
  batch a screen, dealt to the `users` in equal shares. `data` by user, as in stored campaigns: a
  batch a user.
- `dynamic`, `dynamic_models`, `dynamic_coldstart`, `data_random_prob`: dynamic assignment without
  exploration, so many screens a document that each output is on about one; gold comes by chance.
  With one system a screen, all of them, other systems by document, errors marked beforehand or a
  log, systems are dealt to screens, `dynamic_models` each.
- `validation` with `skippable` or `allow_skip`, and `data_welcome`: practice, with `score` as range
  and `warning` as feedback. Other `validation`, and `data_random`: gold.
- `error_spans` and `score_greaterthan` in `validation`: rules beside the range, by which practice
  answers and gold passes. An error of that severity begins and ends within those bounds; the score
  is higher than that of the other output on the screen. Of rules named after sliders the range of
  the first one counts.
- `error_spans`: suggested errors; whether ends are included is asked, or the words say; one without
  severity is left out.
- `token_pass`, `token_fail` of `users`, `validation_threshold`: completion codes of the personal
  links, in their order, told after the last item: the first to who fails at most so many checks
  (below 1: such a share), else the second. A code that is missing is drawn; what was told is stored
  and told again.
- `sliders`, also `[]`: the campaign's own scales, whole numbers from 0 to 100. `textfield`:
  `prefilled`: post-editing; an empty text field is what the comment is here.
- `mqm_categories`, `mqm_severities` of MQM: its own taxonomy. No weights are in the file: neutral
  0, minor 1, major 5, critical 10, any other 1, which is said. Categories typed freely (`input`)
  are left out.
- `src` that is one tag, `<audio>`, `<video>` or `<img>`: a recording or picture, whose file is sent
  along; tags that run something or fetch from elsewhere are refused.
- Without effect, which is said of each, while the file keeps it: `token`; `validation_threshold`
  without codes; `data_random_prob` without `dynamic`; forms and `data_goodbye`; how pages look and
  how screens are drawn; other special tokens than those of cESA; tags of media in outputs; keys of
  items that are not known.
"""

from annotation.imports.pearmut.read import read

__all__ = ["read"]
