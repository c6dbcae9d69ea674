// Answers on their way: kept in the browser until the server has said yes or no to each.
//
// An answer is written down before it is sent. Its submit key makes sending it again harmless, so
// every page of an annotator sends what waits: at once, when the connection or the window is back,
// and ever less often in between. What the server refuses stays too, with a link to its item; where
// the refusal may pass, as that by a campaign that is closed, the next page sends it again. An
// answer that came faster than its texts can be read goes out again after the seconds that the server names.

import { submit } from "./send.js";
import { erase, isForgetful, keys, listen, read, write } from "./store.js";

const PREFIX = "touchstone:answer:";
const DRAFT = "touchstone:draft:";
const FIRST_DELAY_MS = 4_000;
const LAST_DELAY_MS = 30_000;

const bar = document.getElementById("outbox");
const person = bar?.dataset.person;
const inFlight = new Map();
let delay = FIRST_DELAY_MS;
let timer = 0;
let flushing = null;
/** Whether the server has just asked to take the time to read. */
export let isHeld = false;
// What `refused.js` brings, where something was refused.
let showRefused = null;

/** Answers of the signed-in person, the oldest first. */
export const answers = () => all().filter((entry) => entry.person === person);

const all = () => keys(PREFIX).map((key) => read(key)).filter((entry) => entry?.key)
  .sort((one, other) => one.at - other.at);

export const draftKey = (path) => `${DRAFT}${person}:${path}`;

/** Whether fields are a form's: those of a segment alone are not those of its document. */
export const isOf = (fields, names) => names.some((name) => name in fields);

/**
 * The last answer to an item that is not stored, if any: waiting, or refused for a `problem`. With
 * `names`, one with fields of these names.
 */
export function unsentFor(path, names) {
  return answers().findLast((entry) => entry.path === path && (!names || isOf(entry.fields, names)));
}

export const isOnItsWay = (key) => inFlight.has(key);

/** How many answers are being sent now. */
export const sending = () => inFlight.size;

const unsent = () => answers().filter((entry) => !entry.problem);

/** Whether an answer could not be sent so far, so that the next ones have to wait behind it. */
export const isWaiting = () => unsent().length > 0;

/** Whether an answer is still to be sent. */
export const waits = (key) => unsent().some((entry) => entry.key === key);

/** Write an answer down; {key, path, fields, title}. */
export function keep(answer) {
  return write(PREFIX + answer.key, { ...answer, person, at: Date.now() }, true);
}

/** What was refused waits again. */
export const putBack = ({ problem, mayPass, form, ...answer }) =>
  write(PREFIX + answer.key, answer, true);

/** Send one answer, once at a time; what came of it is told by an `answer` event. */
export function deliver(key) {
  if (!inFlight.has(key)) {
    inFlight.set(key, attempt(key).finally(() => {
      inFlight.delete(key);
      show();
      schedule();
    }));
  }
  return inFlight.get(key);
}

async function attempt(key) {
  const entry = read(PREFIX + key);
  if (!entry) return null;
  const waited = { waited_ms: Math.max(0, Date.now() - entry.at) };
  const reply = await submit(entry.path, { ...entry.fields, ...waited });
  const isStored = reply.status === 200 && reply.data.next;
  isHeld = reply.status === 429 && reply.data.seconds > 0;
  if (isHeld) delay = reply.data.seconds * 1000;
  if (isStored) settle(entry);
  else if ([409, 422].includes(reply.status) && reply.data.error || isGone(reply)) {
    // Where something else is stored, or an answer is wrong, the reply has a form to go on with.
    const { error: problem, form } = reply.data;
    write(PREFIX + key, { ...entry, problem, form, mayPass: reply.status === 409 && !form }, true);
  }
  tell(entry, reply);
  // There is a connection: what waits behind it goes out too.
  if (isStored) flush();
  return reply;
}

/** Whether the item is no longer there for whom the answer is of: nobody else is signed in. */
export const isGone = ({ status, data }) => status === 404 && data.person === person;

function tell(entry, reply) {
  document.dispatchEvent(new CustomEvent("answer", { detail: { entry, reply } }));
}

/** An answer is stored: whatever was refused for the same item has been dealt with. */
function settle(entry) {
  erase(PREFIX + entry.key);
  erase(draftKey(entry.path));
  for (const other of answers()) {
    if (other.path === entry.path && other.problem) erase(PREFIX + other.key);
  }
}

/** Send everything that waits, in order; stop where the server cannot be reached or asks to wait. */
export function flush() {
  clearTimeout(timer);
  flushing ??= sendAll().finally(() => (flushing = null));
  return flushing;
}

async function sendAll() {
  // Refused without a sentence, or not this person's: the others are not held up.
  const tried = new Set();
  const next = () => unsent().find((each) => !tried.has(each.key));
  for (let entry = next(); entry; entry = next()) {
    tried.add(entry.key);
    const reply = await deliver(entry.key);
    if (reply && ([0, 401, 429].includes(reply.status) || reply.status >= 500)) break;
  }
}

function schedule() {
  clearTimeout(timer);
  if (!isWaiting()) {
    delay = FIRST_DELAY_MS;
    return;
  }
  timer = setTimeout(flush, delay);
  delay = Math.min(delay * 2, LAST_DELAY_MS);
}

function wake() {
  delay = FIRST_DELAY_MS;
  if (isWaiting()) flush();
  show();
}

/** The bar names what waits. An item that is on the page speaks for itself. */
export function show() {
  const words = bar.dataset;
  const focused = bar.querySelector(":focus");
  const shown = [...document.querySelectorAll("#item form")].map((form) => pathOf(form));
  const isShown = ({ path }) => shown.includes(path);
  const refused = answers().filter((entry) => entry.problem && !isShown(entry));
  const waiting = unsent().filter((entry) => !inFlight.has(entry.key) && !(isHeld && isShown(entry)));
  const isOthers = all().some((entry) => entry.person !== person);
  const sentence = waiting.length === 1 ? words.one : words.many.replace("{count}", waiting.length);
  const text = waiting.length ? sentence : isOthers ? words.others : "";
  const status = bar.querySelector("[data-waiting]");
  if (status.textContent !== text) status.textContent = text;
  bar.querySelector("[data-send]").hidden = !waiting.length;
  if (refused.length || showRefused) list(refused);
  bar.hidden = !text && !refused.length;
  bar.toggleAttribute("data-held", isHeld);
  document.querySelector("[data-all-saved]")?.toggleAttribute("hidden", answers().length > 0);
  // What had the focus is gone: on to what the page is about.
  if (focused?.checkVisibility() === false) {
    const heading = document.querySelector("main h1");
    heading.tabIndex = -1;
    heading.focus();
  }
}

export const pathOf = (form) => new URL(form.action).pathname;

async function list(refused) {
  if (showRefused) return showRefused(refused);
  const { makeRefused } = await import("./refused.js").catch(() => ({}));
  if (!makeRefused || showRefused) return;
  showRefused = makeRefused(bar, discard, replace);
  show();
}

/** What was refused goes out once more, under the key that its refusal brought. */
function replace(key, answer) {
  putBack(answer);
  if (key !== answer.key) erase(PREFIX + key);
  wake();
}

function discard(entry) {
  settle(entry);
  show();
}

if (bar) {
  bar.querySelector("[data-send]").addEventListener("click", wake);
  window.addEventListener("online", wake);
  window.addEventListener("focus", wake);
  window.addEventListener("pageshow", (event) => event.persisted && wake());
  document.addEventListener("visibilitychange", () => document.hidden || wake());
  window.addEventListener("beforeunload", (event) => isForgetful(PREFIX) && event.preventDefault());
  listen((key, entry, before) => {
    if (!key.startsWith(PREFIX)) return;
    show();
    if (!entry) tell(before, null);
    else if (entry.problem) tell(entry, { status: 409, data: { error: entry.problem } });
  });
  // Of several to one item the last one, whatever became of it, is the one that counts.
  for (const entry of answers()) if (unsentFor(entry.path) === entry && entry.mayPass) putBack(entry);
  show();
  // The item page starts by itself, once it can listen.
  if (!document.getElementById("annotate")) flush();
}
