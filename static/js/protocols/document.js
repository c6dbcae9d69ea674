// A document by one system: its segments, then the document as a whole, all submitted as one.

import { makeCells } from "./cells.js";

export function build(item, { words, say, marking }) {
  const root = item.querySelector("[data-sheet]");
  const passed = new Set();
  const sheet = makeCells(root, words, { say, marking, passed });
  const { open, texts } = sheet;
  let last = null;
  root.addEventListener("focusin", ({ target }) => (last = target.closest("[data-cell]") ?? last));

  /** Reading and marking come first, then what is missing. */
  function enter(cell) {
    const text = sheet.spans?.parts[texts.indexOf(cell)];
    if (text) text.focus();
    if (text && cell.contains(document.activeElement)) return;
    const own = sheet.sliders.filter(({ range }) => cell.contains(range));
    const first = own.find(({ value }) => value === null) ?? own[0];
    (first ?? cell.querySelector(".choice input, textarea[required]"))?.focus({ preventScroll: true });
  }

  sheet.focus = () => {
    const asked = open.find((cell) => "asked" in cell.dataset) ?? open[0];
    enter(asked);
    if (asked !== sheet.cells[0]) asked.scrollIntoView({ block: "start" });
  };
  /** Enter in a segment leads to the next one that is not rated; false where there is none. */
  sheet.goOn = () => {
    const place = open.indexOf(last);
    const lacking = last && place >= 0 && sheet.missing(true, last);
    if (lacking) {
      lacking.focus();
      sheet.complain(lacking.sentence);
      return true;
    }
    if (place >= 0) passed.add(last);
    sheet.follow();
    const rest = [...open.slice(place + 1), ...open.slice(0, place + 1)];
    const next = rest.find((cell) => !("done" in cell.dataset));
    if (!next) return false;
    sheet.complain("");
    enter(next);
    next.scrollIntoView({ block: "nearest" });
    say(sheet.nameOf(next));
    return true;
  };
  return sheet;
}
