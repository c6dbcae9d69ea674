// Keeps the monitor fresh while somebody looks, and says aloud when the campaign is complete.

const EVERY_MS = 10_000;
const part = () => document.querySelector("#monitor[data-live]");

// A reason that somebody is writing stays.
function refresh() {
  if (!document.hidden && !document.querySelector("#monitor details[open] form")) part()?.dispatchEvent(new Event("refresh"));
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

// The table keeps its place sideways, the link in focus its focus, and what is open stays open.
let left = 0;
let open = false;
let focused = null;
const key = (element) => element?.getAttribute("href") ?? element?.getAttribute("role");

document.addEventListener("htmx:beforeSwap", () => {
  left = document.querySelector("#monitor .scroll")?.scrollLeft ?? 0;
  open = document.querySelector("#monitor-times")?.open ?? false;
  const active = document.activeElement;
  focused = active?.closest("#monitor") ? key(active) : null;
});

let complete = document.querySelector("#monitor")?.dataset.complete;

document.addEventListener("htmx:afterSettle", () => {
  const monitor = document.querySelector("#monitor");
  const table = monitor?.querySelector(".scroll");
  if (table) table.scrollLeft = left;
  const times = monitor?.querySelector("#monitor-times");
  if (times) times.open = open;
  if (focused) {
    const again = [...monitor.querySelectorAll("a[href], [role=region]")];
    again.find((element) => key(element) === focused)?.focus({ preventScroll: true });
  }
  if (monitor?.dataset.complete === "yes" && complete === "no") {
    const status = document.querySelector("#monitor-status");
    status.textContent = status.dataset.complete;
  }
  complete = monitor?.dataset.complete;
});
