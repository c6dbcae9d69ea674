// One text, and all that is asked of it.

import { makeSheet } from "../sheet.js";

export function build(item, { words, say, marking }) {
  const root = item.querySelector("[data-sheet]");
  return marking ? marking.makeMarkedSheet(root, words, { say }) : makeSheet(root, words);
}
