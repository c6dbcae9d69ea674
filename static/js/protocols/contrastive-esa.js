// Contrastive ESA: segments in rows, systems in columns; errors and a score in every cell.

import { makeSheet } from "../sheet.js";
import { makeBar, makeSpans } from "../spans.js";

const IN_NAMES = ["id", "name", "for", "aria-labelledby", "aria-describedby"];

const rowOf = (cell) => cell.closest("[data-row]");

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
  const { score, comment, flag } = cell.dataset;
  const find = (selector) => part.querySelector(selector);
  const values = score.split(",");
  part.querySelectorAll(".score").forEach((field, n) => field.setAttribute("value", values[n] ?? ""));
  find("textarea").defaultValue = comment;
  find("[type=checkbox]").defaultChecked = flag;
  find(".extras").open = comment || flag;
  cell.append(part);
}

export function build(item, { words, say }) {
  const root = item.querySelector("[data-sheet]");
  const template = root.querySelector("[data-cell-template]");
  const cells = [...root.querySelectorAll("[data-cell]")];
  const open = cells.filter((cell) => !("locked" in cell.dataset));
  for (const cell of open) furnish(cell, template);
  const bar = makeBar(root.querySelector("[data-marking]"), say);
  const todo = root.querySelector("[data-todo]");
  const own = todo.dataset;
  const compare = root.querySelector("[data-differences]");
  let difference = null;
  let handles = [];

  const isUnset = (slider) => slider.value === null;

  function makeAll(_, changed) {
    handles = cells.map((cell) => makeSpans(cell, changed, say, bar));
    return {
      words: bar.words,
      restore: (fields) => handles.forEach((each) => each.restore(fields)),
      get count() {
        return handles.reduce((sum, each) => sum + each.count, 0);
      },
      focus() {
        const first = open.find((cell) =>
          [...cell.querySelectorAll(".score")].some((field) => !field.value));
        handles[Math.max(0, cells.indexOf(first))].focus();
      },
      missing: () => handles.map((each) => each.missing()).find(Boolean) ?? null,
    };
  }

  function follow({ sliders }) {
    const given = sliders.filter((slider) => !isUnset(slider)).length;
    todo.textContent = own.words.replace("{done}", given).replace("{total}", sliders.length);
    const perCell = sliders.length / (open.length || 1);
    open.forEach((cell, n) => doubt(cell, sliders.slice(n * perCell, (n + 1) * perCell)));
    difference?.follow();
  }

  /** A low score without any error may be meant. */
  function doubt(cell, sliders) {
    const { count } = handles[cells.indexOf(cell)];
    const score = sliders[0]?.value ?? null;
    cell.querySelector(".doubt").hidden = score === null || score >= own.limit || count > 0;
    cell.toggleAttribute("data-done", sliders.every((slider) => !isUnset(slider)));
  }

  const sheet = makeSheet(root, words, { makeSpans: makeAll, onChange: follow });
  sheet.missing = () => {
    const wrong = sheet.spans.missing();
    const unset = sheet.sliders.find(isUnset);
    if (wrong || !unset) return wrong;
    const cell = unset.range.closest("[data-cell]");
    const [segment, text] = [rowOf(cell), cell].map((each) =>
      each.querySelector("h2, h3").textContent);
    const where = unset.missing ? "{segment}, {text}: " + unset.missing : own.missing;
    const sentence = where.replace("{segment}", segment).replace("{text}", text);
    return {
      sentence,
      focus() {
        cell.scrollIntoView({ block: "center", inline: "nearest" });
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
  return [sheet];
}
