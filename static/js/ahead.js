// Screens fetched ahead, in this page's memory alone: work goes on from them without a connection.

import { unsentFor } from "./outbox.js";
import { ask } from "./send.js";

// After a reply without any, so many screens go by before the next question.
const REST = 5;
// After one that asks to come later, so many, or so long.
const LATER = 2, LATER_MS = 1_000;
// More are fetched when so much of the last ones is left, from a third to two thirds: people who begin
// together do not all ask at once.
const LEFT = (1 + Math.random()) / 3;
// What was answered here: a reply that was on its way may still bring it.
const gone = new Set();
let screens = [];
let size = 0, rest = 0;
let isAsking = false;
let round = 0;

const isOpen = ({ path }) => !unsentFor(path);

/** Whether there is another screen than the one at `path`. */
export const hasNext = (path) => screens.some((each) => each.path !== path && isOpen(each));

/** Take the next screen that was not answered here: {path, html}, or nothing. */
export function take(path) {
  screens = screens.filter((each) => each.path !== path && isOpen(each));
  return screens.shift();
}

/** Forget a screen that was answered. */
export function drop(path) {
  gone.add(path);
  screens = screens.filter((each) => each.path !== path);
}

/** Start anew: somebody went back, and what they left open comes again. */
export function forget() {
  screens = [];
  size = rest = 0;
  isAsking = false;
  round += 1;
}

/** Fetch what follows; `address` is the campaign's, `path` the item's that is shown. */
export async function fill(address, path) {
  if (isAsking || screens.length > LEFT * size || rest-- > 0) return;
  isAsking = true;
  const began = round;
  const last = (screens.at(-1)?.path ?? path).split("/").at(-2);
  const { status, data } = await ask(`${address}ahead/?${new URLSearchParams({ after: last })}`);
  if (began !== round) return;
  isAsking = false;
  if (data.later) {
    // The server has answers to take.
    rest = LATER;
    setTimeout(again, LATER_MS, address, path, began);
    return;
  }
  const known = new Set([path, ...gone, ...screens.map((each) => each.path)]);
  screens.push(...(data.screens ?? []).filter((each) => !known.has(each.path)));
  size = screens.length;
  rest = status === 200 && !size ? REST : 0;
}

function again(address, path, began) {
  if (began !== round) return;
  rest = 0;
  fill(address, path);
}
