// A sheet of several cells: each is named where something is missing in it, and counted once rated.

import { makeSheet } from "../sheet.js";

export const rowOf = (cell) => cell.closest("[data-row]");
const nameOf = (own) => own.querySelector("h2, h3").innerText;

/**
 * Make a sheet (see sheet.js) of the cells in `root`; those with a text can be marked in. `on` hears
 * `change(sheet, slidersOf)`. Cells in `passed` count as rated though nothing need be entered.
 */
export function makeCells(root, words, { say, marking, change, passed = new Set() }) {
  const cells = [...root.querySelectorAll("[data-cell]")];
  const open = cells.filter((cell) => !("locked" in cell.dataset));
  const todo = root.querySelector("[data-todo]");
  const next = root.querySelector("[data-next]");
  // What each cell asks, found once.
  const asked = new Map(cells.map((cell) => [cell, {
    choices: [...cell.querySelectorAll(".choice")],
    areas: [...cell.querySelectorAll("textarea[required]")],
  }]));

  function slidersOf(cell, all) {
    const own = asked.get(cell);
    return (own.sliders ??= all.filter(({ range }) => cell.contains(range)));
  }

  function isDone(cell, all) {
    const { choices, areas } = asked.get(cell);
    const sliders = slidersOf(cell, all);
    const isGiven = sliders.length || choices.length || passed.has(cell) || "stored" in cell.dataset;
    return isGiven && sliders.every(({ value }) => value !== null)
      && choices.every((each) => each.querySelector(":checked"))
      && !areas.some((each) => each.matches(":placeholder-shown"));
  }

  function follow(own) {
    for (const cell of open) cell.toggleAttribute("data-done", Boolean(isDone(cell, own.sliders)));
    const done = open.filter((cell) => "done" in cell.dataset).length;
    todo.textContent = todo.dataset.words.replace("{done}", done).replace("{total}", open.length);
    change?.(own, (cell) => slidersOf(cell, own.sliders));
  }

  const on = { onChange: follow };
  const texts = cells.filter((cell) => cell.querySelector(".spans"));
  const sheet = marking ? marking.makeMarkedSheet(root, words, { ...on, say, cells: texts })
    : makeSheet(root, words, on);
  const { missing } = sheet;
  sheet.missing = (isKey, scope) => {
    const lacking = missing(isKey, scope);
    const cell = lacking?.part?.closest("[data-cell]");
    if (!cell) return lacking;
    const names = [...new Set([rowOf(cell), cell])].map(nameOf);
    const sentence = `${names.join(", ")}: ${lacking.sentence}`;
    return {
      sentence,
      focus() {
        cell.scrollIntoView({ block: "center", inline: "nearest" });
        lacking.focus();
        say(sentence);
      },
    };
  };
  next.addEventListener("click", () => {
    const lacking = sheet.missing();
    if (lacking) lacking.focus();
    else sheet.form.querySelector("[type=submit]")?.focus();
  });
  return Object.assign(sheet, { cells, open, texts, follow: () => follow(sheet), nameOf });
}
