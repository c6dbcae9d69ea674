// A document: each segment is a sheet of its own, and the document as a whole is the last.

import { makeSheet } from "../sheet.js";

export function build(item, { words, say, marking }) {
  return [...item.querySelectorAll("[data-sheet]")].map((root) => {
    const sheet = root.querySelector("[data-marking]")
      ? marking.makeMarkedSheet(root, words, { say }) : makeSheet(root, words);
    sheet.title = root.querySelector("h2").textContent;
    return sheet;
  });
}

/** A segment is stored and others are open: show it, and renew what the others carry. */
export function stay(sheets, sheet, { saved, started }) {
  sheet.renew(saved.form);
  sheet.root.dataset.done = "";
  sheet.form.querySelector("[data-restored]").hidden = true;
  const score = sheet.form.querySelector("[data-saved-score]");
  score.textContent = score.dataset.label.replace("{score}", saved.score);
  score.hidden = false;
  for (const each of sheets) {
    const id = each.path.split("/").at(-2);
    if (started[id] && !each.isLocked) each.renew({ started: started[id] });
  }
}
