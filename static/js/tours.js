// The demo's tours: the address names the step, such as #tour-results-3; Escape ends the tour.

import { read, write } from "./store.js";

const CLOSED = "touchstone:tours-closed";
const box = document.getElementById("tour");
const steps = document.getElementById("tour-steps").content;
const banner = document.getElementById("tours");

/** Return the step `by` places after this one in its tour (before it, if negative), or null. */
function neighbour(step, by) {
  const [, name, place] = step.id.match(/^(.*)-(\d+)$/);
  return steps.getElementById(`${name}-${Number(place) + by}`);
}

const isHere = (step) => {
  const { pathname, search } = new URL(step.dataset.address, location);
  // The address of a task leads to its current item.
  return search === location.search && (pathname === location.pathname || pathname.startsWith("/annotate/"));
};

function go(by) {
  const step = steps.getElementById(location.hash.slice(1));
  const next = by && neighbour(step, by);
  if (next && !isHere(next)) location.assign(`${next.dataset.address}#${next.id}`);
  else location.hash = next ? next.id : "";
}

/** Mark what a step is about; return false where that is not shown yet. */
function mark(step) {
  const about = [...document.querySelectorAll(step.dataset.marked)].find((each) => each.checkVisibility());
  if (!about) return false;
  about.dataset.toured = "";
  about.scrollIntoView({ block: about.offsetHeight > innerHeight / 2 ? "start" : "center" });
  return true;
}

// What arrives late, such as a preview.
const changes = new MutationObserver(() => {
  const step = steps.getElementById(location.hash.slice(1));
  if (!step || mark(step)) changes.disconnect();
});

function show() {
  changes.disconnect();
  for (const element of document.querySelectorAll("[data-toured]")) delete element.dataset.toured;
  const step = steps.getElementById(location.hash.slice(1));
  box.hidden = !step;
  if (banner) banner.hidden = Boolean(step || read(CLOSED));
  if (!step) return;
  box.querySelector("p").textContent = step.textContent;
  box.querySelector("span").textContent = step.dataset.place;
  box.querySelector("[data-by='-1']").hidden = !neighbour(step, -1);
  box.querySelector("[data-by='1']").hidden = !neighbour(step, 1);
  if (!mark(step)) changes.observe(document.body, { childList: true, subtree: true, attributeFilter: ["hidden", "class"] });
  box.focus({ preventScroll: true });
}

for (const button of box.querySelectorAll("button")) {
  button.addEventListener("click", () => go(Number(button.dataset.by)));
}
box.addEventListener("keydown", (event) => {
  if (event.key === "Escape") go(0);
  event.stopPropagation();
});
banner?.querySelector("button").addEventListener("click", () => {
  write(CLOSED, true);
  show();
});
addEventListener("hashchange", show);
show();
