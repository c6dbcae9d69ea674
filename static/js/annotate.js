// The item page: keys, sending answers, and going from item to item without a reload.

import { makeClock } from "./clock.js";
import * as outbox from "./outbox.js";
import { load } from "./protocols/load.js";

// How soon a digit has to follow to belong to the one before it.
const TYPING_MS = 1_500;
// How long an answer may be on its way before the next item comes, if it is here.
const REPLY_MS = 2_000;
const first = document.getElementById("item");
const keys = document.getElementById("keys");
const still = document.getElementById("still");
const limit = document.getElementById("limit");
const words = document.getElementById("annotate").dataset;
const protocol = await load(first);
const clock = makeClock({
  ask: () => beside((it) => it.wonder(still.dataset.ask)),
  leave: () => beside((it) => it.wonder(still.dataset.leave)),
  back: (idle) => beside((it) => it.tellIdle(idle)),
  near: (left) => beside((it) => it.tellLimit(left)),
}, Number(still.dataset.after) * 1000);
let item, sheet;
// What `later.js` brings: nothing as yet.
let ahead, around, own, pages, visits, arrived;
let player = null;
let isLeaving = false;
let done = 0;
const counted = new Set();
let typed = {};
let path = location.pathname;

/** Make an item work, and put the focus where work goes on: at once, so that no key is lost. */
function adopt(element, html) {
  item = element;
  sheet = protocol.build(item, { words, say });
  if (!sheet.isLocked) listen(sheet);
  const acts = { keys: () => keys.showModal(), break: takeBreak, instructions: instruct };
  for (const [name, act] of Object.entries(acts)) {
    for (const button of item.querySelectorAll(`[data-${name}]`)) button.addEventListener("click", act);
  }
  item.classList.add("is-ready");
  const goOn = item.querySelector("[data-go-on]");
  if (goOn) goOn.focus({ preventScroll: true });
  else if (!sheet.isLocked) sheet.focus();
  outbox.show();
  listenIn();
  surround(html);
}

/** The strip of own items, the document around this one, and the screens after it. */
function surround(html) {
  pages?.arrive(item.dataset.continue, html);
  own?.arrive(Number(item.dataset.first), sheet.path, item.dataset.title);
  around?.listen(item, words);
  // Behind practice there is nothing ahead: first it is said how close the answer was.
  if (!("practice" in item.dataset)) ahead?.fill(item.dataset.continue, sheet.path);
}

function listen({ form, reset }) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    reset();
  });
}

/** Recordings need more than a page without any. */
async function listenIn() {
  player = null;
  if (!item.querySelector("[data-media], .player")) return;
  const shown = item;
  const { makePlayer } = await import("./player.js");
  if (item === shown) player = makePlayer(sheet, clock);
}

function show(html) {
  const next = new DOMParser().parseFromString(html, "text/html").getElementById("item");
  // Read once; from here on a key away.
  fold(next, true);
  item.replaceWith(next);
  path = location.pathname;
  document.title = `${next.dataset.title} · Touchstone`;
  window.scrollTo(0, 0);
  still.hidden = limit.hidden = true;
  clock.restart(Number(next.dataset.limit));
  adopt(next, html);
  if (done > Number(next.dataset.done)) count(done);
}

/** Put the instructions in the item away, or back. */
function fold(element, isKnown) {
  const told = element.querySelector(".instructions");
  told?.classList.toggle("known", isKnown);
  told?.toggleAttribute("open", !isKnown);
  return told;
}

function say(sentence) {
  document.getElementById("said").textContent = sentence;
}

async function send(isKey = false) {
  const sent = sheet;
  if (sheet.isSending || outbox.isOnItsWay(sheet.key)) return;
  if (isKey && sheet.goOn?.()) return;
  const missing = sheet.missing(isKey);
  if (missing) {
    missing.focus();
    sheet.complain(missing.sentence);
    return;
  }
  const times = clock.read();
  still.hidden = true;
  for (const field of sheet.form.querySelectorAll("[name$=_ms]")) {
    field.value = times[field.name.match(/[a-z]+_ms$/)[0]];
  }
  typed = {};
  sheet.complain("");
  sheet.setSending(true);
  const { title } = item.dataset;
  const goesOn = ahead?.hasNext(sheet.path);
  const fields = { ...sheet.fields(), idle_ms: times.idle_ms, ...(goesOn ? { ahead: 1 } : {}) };
  const mustWait = goesOn && outbox.isWaiting() && !outbox.isHeld;
  const { key } = sheet;
  await outbox.keep({ key, path: sheet.path, fields, title });
  if (mustWait) {
    step();
    outbox.flush();
  } else {
    const reply = outbox.deliver(key);
    if (goesOn) {
      await Promise.race([reply, new Promise((resolve) => setTimeout(resolve, REPLY_MS))]);
      // The server is slow: the answer goes on its way beside the next item.
      if (outbox.isOnItsWay(key) && sheet === sent && sent.holds(fields)) step();
    }
    await reply;
  }
  sent.setSending(false);
}

/** Go on with a screen that is here already; false if there is none. */
function step() {
  const next = ahead?.take(sheet.path);
  if (!next) return false;
  const fresh = sheet.form.querySelectorAll("[name$=revision][value='0']").length;
  done = Math.max(done, Number(item.dataset.done)) + (counted.has(sheet.path) ? 0 : fresh);
  counted.add(sheet.path);
  history.pushState(null, "", next.path);
  own?.mark(Number(item.dataset.first));
  show(next.html);
  return true;
}

function count(rated) {
  done = rated;
  const place = item.querySelector("[data-rated]");
  place.textContent = place.dataset.rated.replace("{done}", rated);
  const bar = item.querySelector(".where progress");
  if (!bar) return;
  bar.value = rated;
  bar.textContent = bar.textContent.replace(/\d+/, rated);
}

/** An answer came through or not: one that was just given, or one that had been waiting. */
function onAnswer({ detail: { entry, reply } }) {
  const isHere = sheet.path === entry.path && sheet.key === entry.key;
  const isStored = !reply || (reply.status === 200 && reply.data.next);
  if (isStored) ahead?.drop(entry.path);
  if (!isHere && reply?.data.leaves) return leave(reply.data.next);
  if (!isHere && reply?.status === 401) sheet.complain(...refusal(reply));
  // A segment of this document was answered by itself before; what waits for all of it goes on.
  if (!isHere && isStored && !isLeaving && "submit_key" in entry.fields && !outbox.waits(sheet.key)
    && item.querySelector(`[data-path="${entry.path}"]`)) location.reload();
  if (!isHere) return;
  // Whoever is changing an answer that is on its way or went out behind their back goes on with it.
  if (isStored && !sheet.holds(entry.fields)) renew("");
  // Another tab has sent it.
  else if (!reply) leave(item.dataset.continue);
  else if (isStored) proceed(reply.data);
  else if (reply.status !== 0 && reply.status < 500) fail(reply);
  // It waits in the bar while the work goes on, if the next screen is here; nobody who came back
  // to an answer that waits is pulled away.
  else if (!sheet.isSending || !sheet.holds(entry.fields)) fail(reply);
  else if (!step()) fail(reply);
}

function proceed(data) {
  own?.mark(Number(item.dataset.first));
  if (!data.html && (data.leaves || !step())) return leave(data.next);
  if (data.html) {
    if (data.path !== path) history.pushState(null, "", data.path);
    show(data.html);
  }
  say(`${words.saved} ${item.dataset.title}`);
}

/** Go to another page: what still comes in until it is there changes nothing here. */
function leave(url) {
  isLeaving = true;
  location.assign(url);
}

function fail(reply) {
  const { status, data } = reply;
  sheet.renew(data.form ?? {});
  sheet.complain(...refusal(reply));
  if (status !== 422) return;
  if (/score$/.test(data.field)) sheet.sliders.find(({ name }) => name === data.field)?.refuse();
  else sheet.focus();
}

const refusal = (reply) => [explanation(reply), ...waysOut(reply)];

function explanation(reply) {
  const { status, late, data } = reply;
  if (status === 0) return late ? words.late : words.offline;
  if (status === 404 && !outbox.isGone(reply)) return words.foreign;
  if (status >= 500) return words.broken;
  return data.error ?? words.refused;
}

function waysOut({ status }) {
  if (status !== 401) return [];
  const link = document.createElement("a");
  link.href = `${words.login}?${new URLSearchParams({ next: sheet.path })}`;
  link.textContent = words.signIn;
  return [" ", link, words.personal];
}

/** The instructions over the screen, which stays as it is. */
function instruct() {
  beside((it) => it.instruct(item, own.examples), () => {
    miss();
    fold(item, false)?.scrollIntoView();
  });
}

/** The time of an item starts anew after a break: with the server's stamp, if it can be had. */
function takeBreak() {
  beside((it) => it.takeBreak(clock, () => {
    clock.restart();
    renew("started");
  }), miss);
}

/** What is asked for did not arrive, although it was tried again. */
function miss() {
  still.textContent = words.unloaded;
  still.hidden = false;
}

/** Fetch what comes last, anew where that failed: its module, or null. */
const bring = () => (arrived ??= import("./later.js").then(begin, () => (arrived = null)));
const beside = (act, fail) => bring().then((later) => (later ? act(later.beside) : fail?.()));
const renew = (ending) => bring().then((later) => later?.visits.refresh(sheet, ending));

/** Enter on a button or a link keeps its own meaning. */
function onKey(event) {
  const isText = event.target.closest("textarea, [data-side]");
  if (isText && event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat) {
    if (!sheet.isLocked && !document.querySelector("dialog[open]")) send(true);
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input:not([type=range]), textarea, select")) return;
  if (event.key === "Tab") return toNextSlider(event);
  // The key at its place, where the keyboard has another script.
  const letter = /^[a-z]$/i.test(event.key) ? event.key : event.code?.slice(3).toLowerCase();
  if (event.key === "?") keys.showModal();
  else if (letter === "i") instruct();
  else if (player && letter === "p") player.toggle();
  else if (/^[0-9-]$/.test(event.key)) rate(event.key);
  else if (event.key === "Enter" && (event.repeat || !event.target.closest("a, button, summary"))) {
    // A key held down must not run through the items.
    if (!event.repeat && !sheet.isLocked) send(true);
  } else return;
  event.preventDefault();
}

/** From slider to slider; back, and from the last one, to all that lies between and after. */
function toNextSlider(event) {
  if (sheet.spans || sheet.asksMore) return; // What lies between comes first.
  const place = sheet.sliders.findIndex(({ range }) => range === event.target);
  const next = place >= 0 && !event.shiftKey && sheet.sliders[place + 1];
  if (!next) return;
  event.preventDefault();
  next.range.focus();
}

/** "7" is 70, and "7" "3" soon after it 73, on the same slider; "1" "0" "0" is 100. */
function rate(digit) {
  const { slider } = sheet;
  if (sheet.isSending || !slider) return;
  const isNext = typed.slider === slider && Date.now() - typed.at < TYPING_MS;
  const digits = (isNext ? typed.digits : "") + digit;
  typed = { slider, digits: slider.type(digits) ? digits : digit, at: Date.now() };
  if (typed.digits !== digits) slider.type(digit);
  // Nobody rates what is out of sight.
  slider.range.closest(".answer").scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** Put to use what was fetched last. */
function begin(later) {
  still.hidden = true;
  ({ ahead, around, pages } = later);
  visits = later.visits.makeVisits({ show, complain: () => sheet.complain(words.away) });
  own = later.makeOwn(document.getElementById("own"));
  surround();
  own.load();
  return later;
}

document.addEventListener("answer", onAnswer);
window.addEventListener("pageshow", () => (isLeaving = false));
document.addEventListener("keydown", onKey);
// A jump within the page, such as the skip link's, is not followed.
window.addEventListener("popstate", () => {
  if (location.pathname === path) return;
  if (visits) visits.follow();
  else location.reload();
});
clock.restart(Number(first.dataset.limit));
adopt(first);
outbox.flush();
bring();
