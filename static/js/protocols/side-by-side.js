// Side by side: a slider for each text, all submitted as one; their order is a ranking.

import { makeSheet } from "../sheet.js";

export function build(item, { words }) {
  const place = item.querySelector("[data-ranking]");
  const names = [...item.querySelectorAll("[data-name]")].map((each) => each.dataset.name);

  function rank({ sliders }) {
    const given = sliders
      .map((slider, number) => ({ name: names[number], value: slider.value }))
      .filter(({ value }) => value !== null)
      .sort((one, other) => other.value - one.value);
    const parts = given.map(({ name, value }, number) =>
      number ? `${given[number - 1].value === value ? " = " : " > "}${name}` : name);
    place.querySelector("strong").textContent = parts.join("") || "–";
  }

  return [makeSheet(item.querySelector("[data-sheet]"), words, { onChange: rank })];
}
