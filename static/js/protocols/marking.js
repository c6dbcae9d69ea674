// A sheet with errors to mark: in one text, or in several with one bar for all.

import { makeSheet } from "../sheet.js";
import { makeBar, makeSpans } from "../spans.js";

/** Marking in several cells of a sheet. What is selected in one ends what was in another. */
function markInCells(root, cells, changed, say) {
  const bar = makeBar(root.querySelector("[data-marking]"), say);
  const parts = cells.map((cell) => makeSpans(cell, changed, say, bar));
  return {
    words: bar.words,
    parts,
    restore: (fields) => parts.forEach((each) => each.restore(fields)),
    get count() {
      return parts.reduce((sum, each) => sum + each.count, 0);
    },
    /** To the first text without a score. */
    focus() {
      const first = cells.findIndex((cell) =>
        [...cell.querySelectorAll(".score")].some((field) => !field.value));
      parts[Math.max(0, first)].focus();
    },
    missing(scope) {
      const wrong = cells.map((part, n) => scope.contains(part) && [parts[n].missing(), part]);
      const [found, part] = wrong.find((each) => each?.[0]) ?? [];
      return found ? { ...found, part } : null;
    },
  };
}

/** Make a sheet (see sheet.js) whose errors are marked in `cells`, or else in its own texts. */
export function makeMarkedSheet(root, words, { say, cells, onChange }) {
  const button = root.querySelector("[type=submit]");
  const submit = button?.textContent;
  const none = button?.dataset.none;

  function label({ spans }) {
    if (!none || button.getAttribute("aria-disabled") === "true") return;
    button.textContent = spans.count ? submit : none;
  }

  const sheet = makeSheet(root, words, {
    makeSpans: (root, changed) =>
      (cells ? markInCells(root, cells, changed, say) : makeSpans(root, changed, say)),
    onChange(own) {
      label(own);
      onChange?.(own);
    },
  });
  const { missing } = sheet;
  // Where nothing else is asked, no error at all has to be said: Enter alone does not.
  sheet.missing = (isKey, scope) => {
    if (sheet.spans.count || !isKey || !none || scope) return missing(isKey, scope);
    return { sentence: sheet.spans.words.nothing, focus: () => button.focus() };
  };
  // Reading and marking come first.
  sheet.focus = () => sheet.spans.focus();
  return sheet;
}
