// Keeps what is marked data-live fresh while somebody looks, and says aloud when a run ends.

const EVERY_MS = 2000;

function refresh() {
  if (document.hidden) return;
  for (const part of document.querySelectorAll("[data-live]")) {
    part.dispatchEvent(new Event("refresh"));
  }
}

setInterval(refresh, EVERY_MS);
document.addEventListener("visibilitychange", refresh);

// A session that has expired answers with the sign-in page, which is no fragment.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { pathname } = new URL(event.detail.xhr.responseURL);
  if (pathname === location.pathname) return;
  event.detail.shouldSwap = false;
  location.reload();
});

// What somebody unfolded stays open, and what has the focus there keeps it.
let unfolded = [];
let focused = "";

document.addEventListener("htmx:beforeSwap", () => {
  focused = document.activeElement?.closest("[data-live] details[open]") ? document.activeElement.id : "";
  const summaries = document.querySelectorAll("[data-live] details[open] > summary[id]");
  unfolded = [...summaries].map(({ id }) => id);
});

document.addEventListener("htmx:afterSwap", () => {
  for (const id of unfolded) document.getElementById(id)?.parentElement.setAttribute("open", "");
  if (focused) document.getElementById(focused)?.focus();
});

let status = document.querySelector("[data-status]")?.dataset.status;

document.addEventListener("htmx:afterSettle", () => {
  const now = document.querySelector("[data-status]")?.dataset.status;
  const announcer = document.querySelector("#run-status");
  if (announcer && now !== status) announcer.textContent = announcer.dataset.now.replace("{status}", now);
  status = now;
});
