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

let status = document.querySelector("[data-status]")?.dataset.status;

document.addEventListener("htmx:afterSettle", () => {
  const now = document.querySelector("[data-status]")?.dataset.status;
  const announcer = document.querySelector("#run-status");
  if (announcer && now !== status) announcer.textContent = `The run is now: ${now}`;
  status = now;
});
