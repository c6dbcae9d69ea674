// Segments in rows, systems in columns; all that is asked stands in every cell.

import { makeSheet } from "../sheet.js";

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
  const cells = [...root.querySelectorAll("[data-cell]")];
  const open = cells.filter((cell) => !("locked" in cell.dataset));
  for (const cell of open) furnish(cell, template);
  const todo = root.querySelector("[data-todo]");
  const own = todo.dataset;
  const compare = root.querySelector("[data-differences]");
  let difference = null;

  const isUnset = (slider) => slider.value === null;

  function follow({ sliders, spans }) {
    const given = sliders.filter((slider) => !isUnset(slider)).length;
    todo.textContent = own.words.replace("{done}", given).replace("{total}", sliders.length);
    const perCell = sliders.length / (open.length || 1);
    open.forEach((cell, n) => doubt(cell, sliders.slice(n * perCell, (n + 1) * perCell), spans));
    difference?.follow();
  }

  /** A low score without any error may be meant. */
  function doubt(cell, sliders, spans) {
    const score = sliders[0]?.value ?? null;
    const sentence = cell.querySelector(".doubt");
    if (sentence) {
      sentence.hidden = score === null || score >= own.limit
        || spans.parts[cells.indexOf(cell)].count > 0;
    }
    cell.toggleAttribute("data-done", sliders.length > 0 && sliders.every((each) => !isUnset(each)));
  }

  const sheet = marking ? marking.makeMarkedSheet(root, words, { say, cells, onChange: follow })
    : makeSheet(root, words, { onChange: follow });
  const { missing } = sheet;
  sheet.missing = (isKey) => {
    const lacking = missing(isKey);
    const cell = lacking?.part?.closest("[data-cell]");
    if (!cell) return lacking;
    const [segment, text] = [rowOf(cell), cell].map((each) =>
      each.querySelector("h2, h3").textContent);
    const where = lacking.sentence === words.missing ? own.missing
      : `{segment}, {text}: ${lacking.sentence}`;
    const sentence = where.replace("{segment}", segment).replace("{text}", text);
    return {
      sentence,
      focus() {
        cell.scrollIntoView({ block: "center", inline: "nearest" });
        lacking.focus();
        say(sentence);
      },
    };
  };
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
