// Categories of errors as the tree they are: level by level, each choice with a key, and what was
// used last on top.

import { read, write } from "./store.js";

const LAST = "touchstone:categories";
const SHOWN = 3, KEPT = 12;
// Not m and n, which mark.
const KEYS = "123456789abcdefghijklopqrstuvwxyz";

/** The keys above a category, from the topmost; nothing where it is not. */
function above(nodes, key) {
  for (const [own, , below] of nodes) {
    if (below.some(([each]) => each === key)) return [own];
    const found = above(below, key);
    if (found) return [own, ...found];
  }
  return null;
}

function remember(key) {
  write(LAST, [key, ...(read(LAST) ?? []).filter((each) => each !== key)].slice(0, KEPT));
}

/**
 * A tree for one error; `choose(key)` hears what was chosen. `nodes` are [key, label, nodes below],
 * as many levels as there are, and `labels` the whole names of those that may be chosen, by key.
 */
export function makeTree({ nodes, labels }, words, value, choose) {
  const root = document.createElement("div");
  let open = above(nodes, value) ?? [];

  function levels() {
    const found = [nodes];
    for (const key of open) found.push(found.at(-1).find(([each]) => each === key)[2]);
    return found;
  }

  function draw() {
    const all = levels();
    const parts = all.map((level, depth) => {
      const row = document.createElement("p");
      row.className = "level";
      row.append(...level.map((node, number) =>
        makeButton(node, depth, depth === all.length - 1 ? KEYS[number] : "")));
      return row;
    });
    root.replaceChildren(...lastUsed(), ...parts);
  }

  function lastUsed() {
    const keys = (read(LAST) ?? []).filter((key) => labels.has(key)).slice(0, SHOWN);
    if (!keys.length) return [];
    const row = document.createElement("p");
    row.className = "level recent";
    row.append(words.recent, " ", ...keys.map((key, number) =>
      button(labels.get(key), number ? "" : "0", () => take(key))));
    return [row];
  }

  function makeButton([key, text, below], depth, letter) {
    const made = button(text, letter, () => (below.length ? enter(key, depth) : take(key)));
    if (below.length) made.setAttribute("aria-expanded", String(open[depth] === key));
    else made.setAttribute("aria-pressed", String(key === value));
    return made;
  }

  function button(text, letter, onClick) {
    const made = document.createElement("button");
    made.type = "button";
    made.append(text);
    if (letter) {
      const shown = document.createElement("kbd");
      shown.setAttribute("aria-hidden", "true");
      shown.textContent = letter;
      made.append(" ", shown);
      made.dataset.letter = letter;
    }
    made.addEventListener("click", onClick);
    return made;
  }

  function enter(key, depth) {
    const isOpen = open[depth] === key;
    open = [...open.slice(0, depth), ...(isOpen ? [] : [key])];
    draw();
    focus();
    root.scrollIntoView({ block: "nearest" });
  }

  function take(key) {
    value = key;
    remember(key);
    choose(key);
  }

  /** The deepest level that is open: what is chosen there, or its first. */
  function focus() {
    const level = root.querySelector(".level:last-child");
    (level.querySelector("[aria-pressed=true]") ?? level.querySelector("button")).focus();
  }

  /** Whether a key meant something here. */
  function press({ key, code }) {
    const letter = code.match(/^(?:Digit|Numpad)(\d)$/)?.[1] ?? key;
    const meant = [...root.querySelectorAll("[data-letter]")]
      .find((each) => each.dataset.letter === letter);
    if (meant) meant.click();
    else if (key === "Backspace" && open.length) enter(open.at(-1), open.length - 1);
    else return false;
    return true;
  }

  root.className = "tree";
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", words.category);
  draw();
  return { root, focus, press };
}
