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

// What somebody unfolded stays open: the part that comes anew knows nothing of it.
let unfolded = [];

document.addEventListener("htmx:beforeSwap", () => {
  const summaries = document.querySelectorAll("[data-live] details[open] > summary[id]");
  unfolded = [...summaries].map(({ id }) => id);
});

document.addEventListener("htmx:afterSwap", () => {
  for (const id of unfolded) document.getElementById(id)?.parentElement.setAttribute("open", "");
});

let status = document.querySelector("[data-status]")?.dataset.status;

document.addEventListener("htmx:afterSettle", () => {
  const now = document.querySelector("[data-status]")?.dataset.status;
  const announcer = document.querySelector("#run-status");
  if (announcer && now !== status) announcer.textContent = announcer.dataset.now.replace("{status}", now);
  status = now;
});
