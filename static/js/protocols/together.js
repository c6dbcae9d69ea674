// Texts beside each other, all submitted as one; the order of their sliders is a ranking.

import { makeSheet } from "../sheet.js";

export function build(item, { words, say, marking }) {
  const root = item.querySelector("[data-sheet]");
  const place = item.querySelector("[data-ranking]");
  const cells = [...item.querySelectorAll("[data-name]")];

  function rank({ sliders }) {
    const given = sliders
      .map((slider, number) => ({ name: cells[number].dataset.name, value: slider.value }))
      .filter(({ value }) => value !== null)
      .sort((one, other) => other.value - one.value);
    const parts = given.map(({ name, value }, number) =>
      number ? `${given[number - 1].value === value ? " = " : " > "}${name}` : name);
    place.querySelector("strong").textContent = parts.join("") || "–";
  }

  const onChange = place ? rank : undefined;
  return marking ? marking.makeMarkedSheet(root, words, { say, cells, onChange })
    : makeSheet(root, words, { onChange });
}
