// The document around a segment: fetched when it is opened, which the server stores.

import { ask } from "./send.js";

/** Make it open; `words.unreachable` is said where it cannot be had. */
export function listen(item, words) {
  for (const details of item.querySelectorAll("details[data-around]")) {
    details.addEventListener("toggle", () => details.open && fill(details, words));
  }
}

async function fill(details, words) {
  const place = details.querySelector("div");
  const { status, data } = await ask(details.dataset.around);
  if (status !== 200 || !data.html) {
    place.textContent = status === 0 ? words.unconnected : words.unreachable;
    return;
  }
  const parsed = new DOMParser().parseFromString(data.html, "text/html");
  place.replaceChildren(...parsed.body.children);
  const own = place.querySelector("[aria-current]");
  own?.parentElement.scrollTo(0, own.offsetTop - own.parentElement.clientHeight / 3);
}
