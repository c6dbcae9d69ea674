// MQM: errors with category and severity; the score follows. No error at all has to be said.

import { makeSheet } from "../sheet.js";
import { makeSpans } from "../spans.js";

export function build(item, { words, say }) {
  const root = item.querySelector("[data-sheet]");
  const button = root.querySelector("[type=submit]");
  const submit = button?.textContent;

  function label({ spans }) {
    if (button.getAttribute("aria-disabled") === "true") return;
    button.textContent = spans.count ? submit : button.dataset.none;
  }

  const sheet = makeSheet(root, words, {
    makeSpans: (root, changed) => makeSpans(root, changed, say),
    onChange: label,
  });
  const { missing } = sheet;
  // Enter alone says nothing yet; the button that says so does.
  sheet.missing = (isKey) => {
    if (sheet.spans.count || !isKey) return missing();
    return { sentence: sheet.spans.words.nothing, focus: () => button.focus() };
  };
  sheet.focus = () => sheet.spans.focus();
  return [sheet];
}
