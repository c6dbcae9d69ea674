// Direct assessment of segments: one text, one slider.

import { makeSheet } from "../sheet.js";

export function build(item, { words }) {
  return [makeSheet(item.querySelector("[data-sheet]"), words)];
}
