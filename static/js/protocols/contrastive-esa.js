// Contrastive ESA: segments in rows, systems in columns; errors and a score in every cell.

import { makeDifferences } from "../differences.js";
import { makeSheet } from "../sheet.js";
import { makeBar, makeSpans } from "../spans.js";

const IN_NAMES = ["id", "name", "for", "aria-labelledby", "aria-describedby"];

/** Put the answer part, which is the same in all cells, into one of them. */
function furnish(cell, template) {
  const part = template.content.cloneNode(true);
  for (const element of part.querySelectorAll("*")) {
    for (const name of IN_NAMES.filter((each) => element.hasAttribute(each))) {
      const value = element.getAttribute(name);
      element.setAttribute(name, value.replaceAll("#", cell.dataset.cell)
        .replaceAll("@", cell.closest("[data-row]").dataset.row));
    }
  }
  const { score, comment, flag } = cell.dataset;
  part.querySelector(".score").setAttribute("value", score);
  part.querySelector("textarea").defaultValue = comment;
  part.querySelector("[type=checkbox]").defaultChecked = Boolean(flag);
  part.querySelector(".extras").open = Boolean(comment || flag);
  cell.append(part);
}

export function build(item, { words, say }) {
  const root = item.querySelector("[data-sheet]");
  const template = root.querySelector("[data-cell-template]");
  const cells = [...root.querySelectorAll("[data-cell]")];
  const open = cells.filter((cell) => !("locked" in cell.dataset));
  for (const cell of open) furnish(cell, template);
  const bar = makeBar(root.querySelector("[data-marking]"), say);
  const own = root.querySelector("[data-todo]").dataset;
  const difference = makeDifferences(root);
  let handles = [];

  const nameOf = (cell) =>
    [cell.closest("[data-row]"), cell].map((each) => each.querySelector("h2, h3").textContent);
  const isUnset = (slider) => slider.value === null;

  /** Marks of all cells as one. */
  function makeAll(_, changed) {
    handles = cells.map((cell) => makeSpans(cell, changed, say, bar));
    return {
      words: bar.words,
      restore: (fields) => handles.forEach((each) => each.restore(fields)),
      get count() {
        return handles.reduce((sum, each) => sum + each.count, 0);
      },
      focus: () => (handles[firstOpen()] ?? handles[0]).focus(),
      missing: () => handles.map((each) => each.missing()).find(Boolean) ?? null,
    };
  }

  /** The first cell without a score. */
  function firstOpen() {
    const unset = open.find((cell) => !cell.querySelector(".score").value);
    return unset ? cells.indexOf(unset) : 0;
  }

  function follow({ sliders }) {
    const given = sliders.filter((slider) => !isUnset(slider));
    const text = own.words.replace("{done}", given.length).replace("{total}", sliders.length);
    const place = root.querySelector("[data-todo]");
    if (place.textContent !== text) place.textContent = text;
    sliders.forEach((slider, number) => doubt(open[number], slider.value));
    difference.follow();
  }

  /** A low score without any error is doubted, and may be meant. */
  function doubt(cell, score) {
    const { count } = handles[cells.indexOf(cell)];
    const isDoubted = score !== null && score < Number(own.limit) && !count;
    const note = cell.querySelector(".doubt");
    if (note.hidden === isDoubted) note.hidden = !isDoubted;
    cell.toggleAttribute("data-done", score !== null);
  }

  const sheet = makeSheet(root, words, { makeSpans: makeAll, onChange: follow });
  sheet.missing = () => {
    const wrong = sheet.spans.missing();
    const unset = sheet.sliders.find(isUnset);
    if (wrong || !unset) return wrong;
    const [segment, text] = nameOf(unset.range.closest("[data-cell]"));
    const sentence = own.missing.replace("{segment}", segment).replace("{text}", text);
    return {
      sentence,
      focus() {
        unset.range.closest("[data-cell]").scrollIntoView({ block: "center", inline: "nearest" });
        unset.refuse();
        say(sentence);
      },
    };
  };
  sheet.focus = () => sheet.spans.focus();
  sheet.root.querySelector("[data-next]").addEventListener("click", () => {
    const missing = sheet.missing();
    if (missing) missing.focus();
    else sheet.form.querySelector("[type=submit]")?.focus();
  });
  return [sheet];
}
