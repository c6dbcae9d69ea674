// Segments in rows, systems in columns; all that is asked stands in every cell.

import { makeCells, rowOf } from "./cells.js";

const IN_NAMES = ["id", "name", "for", "aria-labelledby", "aria-describedby"];

/** Put the answer part, which is the same in all cells, into one of them. */
function furnish(cell, template) {
  const part = template.content.cloneNode(true);
  for (const element of part.querySelectorAll("*")) {
    for (const name of IN_NAMES.filter((each) => element.hasAttribute(each))) {
      const value = element.getAttribute(name);
      element.setAttribute(name, value.replaceAll("#", cell.dataset.cell)
        .replaceAll("@", rowOf(cell).dataset.row));
    }
  }
  const { score, choices, text, comment, flag } = cell.dataset;
  const find = (selector) => part.querySelector(selector);
  const values = score.split(",");
  part.querySelectorAll(".score").forEach((field, n) => field.setAttribute("value", values[n] ?? ""));
  part.querySelectorAll(".choice").forEach((group, n) => {
    const chosen = JSON.parse(choices)[n];
    for (const radio of group.querySelectorAll("input")) radio.defaultChecked = radio.value === chosen;
  });
  const edited = find(".post-edit textarea");
  if (edited) edited.defaultValue = text;
  find(".extras textarea").defaultValue = comment;
  find("[type=checkbox]").defaultChecked = flag;
  find(".extras").open = comment || flag;
  cell.append(part);
}

export function build(item, { words, say, marking }) {
  const root = item.querySelector("[data-sheet]");
  const template = root.querySelector("[data-cell-template]");
  for (const cell of root.querySelectorAll("[data-cell]:not([data-locked])")) furnish(cell, template);
  const { limit } = root.querySelector("[data-todo]").dataset;
  const compare = root.querySelector("[data-differences]");
  let difference = null;

  /** A low score without any error may be meant. */
  function change({ spans }, slidersOf) {
    root.querySelectorAll("[data-cell]").forEach((cell, n) => {
      const score = slidersOf(cell)[0]?.value ?? null;
      const sentence = cell.querySelector(".doubt");
      if (sentence) sentence.hidden = score === null || score >= limit || spans.parts[n].count > 0;
    });
    difference?.follow();
  }

  const sheet = makeCells(root, words, { say, marking, change });
  // A source that scrolls in itself does so by keyboard too.
  const fit = new ResizeObserver((entries) => entries.forEach(({ target }) => {
    if (target.scrollHeight > target.clientHeight + 1) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }));
  for (const source of root.querySelectorAll(".source")) fit.observe(source);
  // Fetched when it is first asked for.
  compare.hidden = !globalThis.Highlight || !CSS.highlights;
  CSS.highlights?.clear();
  compare.addEventListener("click", async () => {
    difference ??= (await import("../differences.js")).makeDifferences(root);
    difference.toggle();
  });
  return sheet;
}
