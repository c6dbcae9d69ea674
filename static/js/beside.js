// What lies over an item and leaves it as it is: instructions, a break, and what is said of time.

const pause = document.getElementById("break");
const instructions = document.getElementById("instructions");
const still = document.getElementById("still");
const limit = document.getElementById("limit");
// How long it stands on the page that the limit of paid time is near.
const TOLD_MS = 15_000;

/** The item's instructions, and the practice done so far as HTML. */
export function instruct(item, practice) {
  const told = item.querySelector(".instructions .prose");
  instructions.querySelector("[data-told]").replaceChildren(...(told ? [told.cloneNode(true)] : []));
  const examples = instructions.querySelector("[data-examples]");
  const page = new DOMParser().parseFromString(practice, "text/html");
  examples.replaceChildren(...page.body.children);
  examples.hidden = !practice;
  instructions.showModal();
}

/** "Still working?", and then that time is not counted. */
export function wonder(sentence) {
  still.hidden = false;
  if (still.textContent !== sentence) still.textContent = sentence;
}

/** The limit of paid time comes near, or is there: never a reason to hurry. */
export function tellLimit(left) {
  limit.hidden = false;
  setTimeout(() => (limit.hidden = true), TOLD_MS);
  const seconds = Math.ceil(left / 1000);
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  limit.textContent = left ? limit.dataset.soon.replace("{time}", time) : limit.dataset.over;
}

/** Somebody is back after this number of milliseconds that were not counted. */
export function tellIdle(idle) {
  if (idle < 1000) still.hidden = true;
  else {
    const [minutes, seconds] = [Math.floor(idle / 60_000), Math.floor(idle / 1000) % 60];
    const time = `${minutes}:${String(seconds).padStart(2, "0")}`;
    still.textContent = still.dataset.back.replace("{time}", time);
  }
}

/** Time stands still until the break is over; then `goOn()` is called. */
export function takeBreak(clock, goOn) {
  clock.pause();
  pause.showModal();
  pause.addEventListener("close", goOn, { once: true });
}
