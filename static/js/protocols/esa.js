// Error span annotation: errors are marked, then the text is rated.

import { makeSheet } from "../sheet.js";
import { makeSpans } from "../spans.js";

export function build(item, { words, say }) {
  const root = item.querySelector("[data-sheet]");
  const sheet = makeSheet(root, words, {
    makeSpans: (root, changed) => makeSpans(root, changed, say),
  });
  // Reading and marking come first.
  sheet.focus = () => sheet.spans.focus();
  return [sheet];
}
