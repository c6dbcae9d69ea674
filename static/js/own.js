// The strip of own items, each one click away, and the practice done so far. Both are fetched once
// and follow what is answered here; visits.js follows the links.

import { ask } from "./send.js";

export function makeOwn(nav) {
  const list = nav.querySelector("ol");
  const links = new Map();
  let here = null;
  let examples = "";

  async function load() {
    const { data } = await ask(nav.dataset.address);
    for (const [path, first, last, isDone] of data.screens ?? []) {
      put(first, path, first === last ? `${first}` : `${first}–${last}`, isDone);
    }
    examples = data.examples ?? examples;
    list.replaceChildren(...inOrder().map((link) => link.parentElement));
    nav.hidden = !links.size;
    show();
  }

  const inOrder = () => [...links.keys()].sort((one, other) => one - other).map((n) => links.get(n));

  function put(place, path, label, isDone) {
    const link = links.get(place) ?? make(place);
    link.href = path;
    link.textContent = label;
    if (isDone) mark(place);
    else name(link);
  }

  function make(place) {
    const link = document.createElement("a");
    const item = document.createElement("li");
    item.append(link);
    list.append(item);
    links.set(place, link);
    return link;
  }

  function name(link) {
    const { rated, open } = nav.dataset;
    const words = "done" in link.dataset ? rated : open;
    link.setAttribute("aria-label", words.replace("{place}", () => link.textContent));
  }

  function mark(place) {
    const link = links.get(place);
    if (!link) return;
    link.dataset.done = "";
    name(link);
  }

  /** One stop of the Tab key: the item that is here; the arrows go on from it. */
  function show() {
    for (const link of links.values()) {
      link.removeAttribute("aria-current");
      link.tabIndex = -1;
    }
    const link = links.get(here?.place);
    if (!link) return;
    link.setAttribute("aria-current", "true");
    link.tabIndex = 0;
    list.scrollLeft += link.getBoundingClientRect().left - list.getBoundingClientRect().left
      - (list.clientWidth - link.offsetWidth) / 2;
  }

  list.addEventListener("keydown", (event) => {
    const isMirrored = document.dir === "rtl";
    const step = { ArrowRight: isMirrored ? -1 : 1, ArrowLeft: isMirrored ? 1 : -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const all = inOrder();
    all[all.indexOf(document.activeElement) + step]?.focus();
  });

  return {
    load,
    mark,
    get examples() {
      return examples;
    },
    /** An item came: one that the strip does not know yet is put into it. */
    arrive(place, path, title) {
      here = { place };
      if (links.size && !links.has(place)) {
        put(place, path, title.match(/\d+(?:–\d+)?/)?.[0] ?? `${place}`, false);
      }
      show();
    },
  };
}
