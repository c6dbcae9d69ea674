// Screens fetched ahead: work goes on from them without a connection. How many are left is said
// while the server cannot be reached.

import { flush, isWaiting, sending, unsentFor } from "./outbox.js";
import * as pages from "./pages.js";
import { ask } from "./send.js";

// After a reply without any, this number of screens pass before the next question.
const REST = 5;
// After one that asks to come later: this number of screens, or this time.
const LATER = 2, LATER_MS = 1_000;
// The next look for a server that cannot be reached.
const AWAY_MS = 10_000 * (1 + Math.random());
// More are fetched when so much of the last ones is left, from a third to two thirds: people who begin
// together do not all ask at once.
const LEFT = (1 + Math.random()) / 3;
// What was answered here: a reply that was on its way may still bring it.
const gone = new Set();
let screens = [];
let size = 0, rest = 0;
let isAsking = false;
let round = 0;
let isAway = false;
let timer = 0;
let here = {};
const left = document.getElementById("left");
const onTheWay = document.getElementById("sending");

/** Whether a screen can be rated now: without a connection not one that lacks its picture. */
const isOpen = ({ path, html, isWhole }) =>
  !unsentFor(path) && (!isAway || isWhole || !pages.filesOf(html).length);

/** Whether there is another screen than the one at `path`. */
export const hasNext = (path) => screens.some((each) => each.path !== path && isOpen(each));

/** Take the next screen that was not answered here: {path, html}, or nothing. */
export function take(path) {
  const next = screens.find((each) => each.path !== path && isOpen(each));
  screens = screens.filter((each) => ![path, next?.path].includes(each.path));
  return next;
}

/** Forget a screen that was answered. */
export function drop(path) {
  gone.add(path);
  pages.drop(path);
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
  here = { address, path };
  tell();
  const isPlenty = !isAway && screens.length > LEFT * size;
  if (isAsking || isPlenty || rest-- > 0) return;
  isAsking = true;
  const began = round, wasAway = isAway;
  const last = (screens.at(-1)?.path ?? path).split("/").at(-2);
  const { status, data } = await ask(`${address}ahead/?${new URLSearchParams({ after: last })}`);
  const isOut = isOutOfReach(status);
  const more = isOut ? await pages.recall(address) : data.screens ?? [];
  if (began !== round) return;
  isAsking = false;
  if (isOut) again(AWAY_MS);
  if (data.later) {
    // The server has answers to take.
    rest = LATER;
    again(LATER_MS);
  } else {
    const known = new Set([path, ...gone, ...screens.map((each) => each.path)]);
    const fresh = more.filter((each) => !known.has(each.path));
    screens.push(...fresh);
    size = screens.length;
    rest = status === 200 && !size ? REST : 0;
    if (!isOut) pages.keep(fresh);
  }
  if (status === 401) pages.forget();
  reach(status);
  // The first sign of a connection: what waits need not wait for its time.
  if (wasAway && !isOut && isWaiting()) flush();
}

/** Ask once more in a while, whatever is shown by then. */
function again(ms) {
  clearTimeout(timer);
  timer = setTimeout(look, ms, round);
}

function look(began) {
  if (began !== round || !here.address) return;
  rest = 0;
  fill(here.address, here.path);
}

export const isOutOfReach = (status) => status === 0 || status >= 500;

function reach(status) {
  isAway = isOutOfReach(status);
  tell();
}

/** Once what was just heard of has been dealt with. */
const tell = () => setTimeout(() => {
  onTheWay.hidden = !sending();
  left.hidden = !isAway;
  const open = screens.filter((each) => each.path !== here.path && isOpen(each)).length;
  const count = open + (unsentFor(here.path) ? 0 : 1);
  const { many, one, none } = left.dataset;
  const sentence = (count > 1 ? many : count ? one : none).replace("{count}", count);
  if (left.textContent !== sentence) left.textContent = isAway ? sentence : "";
});

// Before the page goes on to a screen that can be rated without a connection.
document.addEventListener("answer", ({ detail: { reply } }) => reply && reach(reply.status), true);
window.addEventListener("offline", () => reach(0));
window.addEventListener("online", () => look(round));
