// The item page: keys, sending answers, and going from item to item without a reload.

import * as ahead from "./ahead.js";
import * as around from "./around.js";
import { makeClock } from "./clock.js";
import * as outbox from "./outbox.js";
import { makeOwn } from "./own.js";
import { ask } from "./send.js";

const PROTOCOLS = {
  "segment-da": () => import("./protocols/segment-da.js"),
  "document-da": () => import("./protocols/document-da.js"),
  "side-by-side": () => import("./protocols/side-by-side.js"),
  "contrastive-esa": () => import("./protocols/contrastive-esa.js"),
  "esa": () => import("./protocols/esa.js"),
  "mqm": () => import("./protocols/mqm.js"),
};
// How soon a digit has to follow to belong to the one before it.
const TYPING_MS = 1_500;
// How long it stands on the page that the limit of paid time is near.
const TOLD_MS = 15_000;
const page = document.getElementById("annotate");
const keys = document.getElementById("keys");
const pause = document.getElementById("break");
const instructions = document.getElementById("instructions");
const words = page.dataset;
const still = document.getElementById("still");
const limit = document.getElementById("limit");
const clock = makeClock({
  ask: () => wonder(still.dataset.ask),
  leave: () => wonder(still.dataset.leave),
  back: tellIdle,
  near: tellLimit,
}, Number(still.dataset.after) * 1000);
const own = makeOwn(document.getElementById("own"), visit);
let item, protocol, current;
let sheets = [];
let done = 0;
const counted = new Set();
let typed = {};
let path = window.location.pathname;

const load = (element) => PROTOCOLS[element.dataset.protocol]();

/** Make an item work, and put the focus where work goes on: at once, so that no key is lost. */
function adopt(element, module) {
  item = element;
  protocol = module;
  sheets = protocol.build(item, { words, say });
  for (const sheet of sheets.filter((each) => !each.isLocked)) listen(sheet);
  for (const button of item.querySelectorAll("[data-keys]")) {
    button.addEventListener("click", () => keys.showModal());
  }
  for (const button of item.querySelectorAll("[data-break]")) {
    button.addEventListener("click", takeBreak);
  }
  item.querySelector("[data-instructions]").addEventListener("click", instruct);
  own.arrive(Number(item.dataset.first), sheets[0].path, item.dataset.title);
  around.listen(item, words);
  item.classList.add("is-ready");
  const asked = sheets.find((each) => "asked" in each.root.dataset) ?? sheets[0];
  goTo(asked, sheets.length > 1 && asked !== sheets[0]);
  outbox.show();
  ahead.fill(item.dataset.continue, sheets[0].path);
}

function listen(sheet) {
  sheet.form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(sheet);
  });
  sheet.form.addEventListener("reset", (event) => {
    event.preventDefault();
    sheet.reset();
  });
  sheet.root.addEventListener("focusin", () => (current = sheet));
}

function goTo(sheet, scrolls) {
  current = sheet;
  if (!sheet.isLocked) sheet.focus();
  if (scrolls) sheet.root.scrollIntoView({ block: "start" });
}

async function show(html) {
  const next = new DOMParser().parseFromString(html, "text/html").getElementById("item");
  const module = await load(next);
  // Read once; from here on a key away.
  const told = next.querySelector(".instructions");
  told?.classList.add("known");
  told?.removeAttribute("open");
  item.replaceWith(next);
  path = window.location.pathname;
  document.title = `${next.dataset.title} · Touchstone`;
  window.scrollTo(0, 0);
  still.hidden = limit.hidden = true;
  clock.restart(Number(next.dataset.limit));
  adopt(next, module);
  if (done > Number(next.dataset.done)) count(done);
}

function say(sentence) {
  document.getElementById("said").textContent = sentence;
}

async function send(sheet, isKey = false) {
  if (sheet.isSending || outbox.isOnItsWay(sheet.key)) return;
  const missing = sheet.missing(isKey);
  if (missing) {
    sheet.complain(missing.sentence);
    missing.focus();
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
  const title = [item.dataset.title, sheet.title].filter(Boolean).join(" · ");
  const goesOn = sheets.length === 1 && ahead.hasNext(sheet.path);
  const fields = { ...sheet.fields(), idle_ms: times.idle_ms, ...(goesOn ? { ahead: 1 } : {}) };
  const mustWait = goesOn && outbox.isWaiting();
  const { key } = sheet;
  await outbox.keep({ key, path: sheet.path, fields, title });
  if (mustWait) {
    await step(sheet);
    outbox.flush();
  } else await outbox.deliver(key);
  sheet.setSending(false);
}

/** Go on with a screen that is here already; false if there is none. */
async function step(sheet) {
  if (sheet !== sheets[0] || sheets.length > 1) return false;
  const next = ahead.take(sheet.path);
  if (!next) return false;
  const isNew = !("revised" in item.dataset) && !counted.has(sheet.path);
  counted.add(sheet.path);
  done = Math.max(done, Number(item.dataset.done)) + (isNew ? 1 : 0);
  history.pushState(null, "", next.path);
  own.mark(Number(item.dataset.first));
  await show(next.html);
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
  const sheet = sheets.find((each) => each.path === entry.path && each.key === entry.key);
  const isStored = !reply || (reply.status === 200 && reply.data.next);
  if (isStored) ahead.drop(entry.path);
  if (!sheet) return reply?.status === 401 ? current.complain(...refusal(reply, current)) : null;
  // Whoever is changing an answer that is on its way or went out behind their back goes on with it.
  if (isStored && !sheet.holds(entry.fields)) refresh([sheet], "");
  // Another tab has sent it.
  else if (!reply) window.location.assign(item.dataset.continue);
  else if (isStored) proceed(reply.data, sheet);
  else if (reply.status !== 0 && reply.status < 500) fail(reply, sheet);
  // It waits in the bar while the work goes on, if the next screen is here; nobody who came back
  // to an answer that waits is pulled away.
  else if (!sheet.isSending || !sheet.holds(entry.fields)) fail(reply, sheet);
  else step(sheet).then((isOn) => isOn || fail(reply, sheet));
}

async function proceed(data, sheet) {
  if (data.saved) return goOn(data, sheet);
  own.mark(Number(item.dataset.first));
  if (!data.html && !data.leaves && await step(sheet)) return say(`${words.saved} ${item.dataset.title}`);
  if (!data.html) return window.location.assign(data.next);
  history.pushState(null, "", data.next);
  show(data.html).then(() => say(`${words.saved} ${item.dataset.title}`));
}

/** The document stays; the next of its segments that is open comes into view. */
function goOn(data, sheet) {
  protocol.stay(sheets, sheet, data);
  sheet.complain("");
  clock.restart();
  count(data.done);
  const rest = [...sheets.slice(sheets.indexOf(sheet) + 1), ...sheets];
  const next = rest.find((each) => !("done" in each.root.dataset)) ?? sheet;
  say(`${words.saved} ${next.title}`);
  // Whoever is at work on another segment is not pulled away.
  if (current !== sheet) return;
  history.replaceState(null, "", next.path);
  path = window.location.pathname;
  next.root.scrollIntoView({ block: "nearest" });
  goTo(next, false);
}

function fail({ status, late, data }, sheet) {
  sheet.renew(data.form ?? {});
  sheet.complain(...refusal({ status, late, data }, sheet));
  if (status !== 422 || sheet !== current) return;
  if (/score$/.test(data.field)) (sheet.sliders.find((each) => each.name === data.field))?.refuse();
  else sheet.focus();
}

const refusal = ({ status, late, data }, sheet) =>
  [explanation(status, late, data), ...waysOut(status, sheet)];

function explanation(status, late, data) {
  if (status === 0) return late ? words.late : words.offline;
  if (status === 404) return words.foreign;
  if (status >= 500) return words.broken;
  return data.error ?? words.refused;
}

function waysOut(status, sheet) {
  if (status !== 401) return [];
  const link = document.createElement("a");
  link.href = `${words.login}?${new URLSearchParams({ next: sheet.path })}`;
  link.textContent = words.signIn;
  return [" ", link, words.personal];
}

/** The instructions over the screen, which stays as it is. */
function instruct() {
  const told = item.querySelector(".instructions .prose");
  instructions.querySelector("[data-told]").replaceChildren(...(told ? [told.cloneNode(true)] : []));
  const examples = instructions.querySelector("[data-examples]");
  const page = new DOMParser().parseFromString(own.examples, "text/html");
  examples.replaceChildren(...page.body.children);
  examples.hidden = !own.examples;
  instructions.showModal();
}

/** "Still working?", and then that time is not counted. */
function wonder(sentence) {
  still.hidden = false;
  if (still.textContent !== sentence) still.textContent = sentence;
}

/** The limit of paid time comes near, or is there: never a reason to hurry. */
function tellLimit(left) {
  limit.hidden = false;
  setTimeout(() => (limit.hidden = true), TOLD_MS);
  const seconds = Math.ceil(left / 1000);
  const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  limit.textContent = left ? limit.dataset.soon.replace("{time}", time) : limit.dataset.over;
}

function tellIdle(idle) {
  if (idle < 1000) still.hidden = true;
  else {
    const [minutes, seconds] = [Math.floor(idle / 60_000), Math.floor(idle / 1000) % 60];
    const time = `${minutes}:${String(seconds).padStart(2, "0")}`;
    still.textContent = still.dataset.back.replace("{time}", time);
  }
}

function takeBreak() {
  clock.pause();
  pause.showModal();
}

/** The time of an item starts anew after a break: with the server's stamp, if it can be had. */
async function endBreak() {
  clock.restart();
  await refresh(sheets, "started");
}

/** Put hidden fields as they would be now in place: those whose names end so, or all of them. */
async function refresh(chosen, ending) {
  const { status, data } = await ask(chosen[0].path);
  if (status !== 200 || !data.html) return;
  const forms = [...new DOMParser().parseFromString(data.html, "text/html").forms];
  for (const sheet of chosen) {
    const action = sheet.form.getAttribute("action");
    const form = forms.find((each) => each.getAttribute("action") === action);
    for (const name of ["submit_key", "revision", "started"].filter((n) => n.endsWith(ending))) {
      for (const field of form?.querySelectorAll(`[name$=${name}]`) ?? []) {
        sheet.renew({ [field.name]: field.value });
      }
    }
    sheet.complain("");
    sheet.save();
  }
}

/** Enter on a button or a link keeps its own meaning. */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (event.target.closest("input:not([type=range]), textarea, select")) return;
  if (event.key === "Tab") return toNextSlider(event);
  if (event.key === "?") keys.showModal();
  else if (event.key === "i" || event.code === "KeyI" && !/^[a-z]$/i.test(event.key)) instruct();
  else if (/^[0-9]$/.test(event.key)) rate(event.key);
  else if (event.key === "Enter" && !event.target.closest("a, button, summary")) {
    // A key held down must not run through the items.
    if (!event.repeat && !current.isLocked) send(current, true);
  } else return;
  event.preventDefault();
}

/** From slider to slider; back, and from the last one, to all that lies between and after. */
function toNextSlider(event) {
  if (current.spans) return; // The next text comes first.
  const all = sheets.flatMap((sheet) => sheet.sliders);
  const place = all.findIndex(({ range }) => range === event.target);
  const next = place >= 0 && !event.shiftKey && all[place + 1];
  if (!next) return;
  event.preventDefault();
  next.range.focus();
}

/** "7" is 70, and "7" "3" soon after it 73, on the same slider; "1" "0" "0" is 100. */
function rate(digit) {
  const { slider } = current;
  if (current.isSending || !slider) return;
  const isNext = typed.slider === slider && Date.now() - typed.at < TYPING_MS;
  const digits = (isNext ? typed.digits : "") + digit;
  typed = { slider, digits: slider.type(digits) ? digits : digit, at: Date.now() };
  if (typed.digits !== digits) slider.type(digit);
}

/** One of the own items: what was entered here stays in the browser. */
async function visit(wanted) {
  const { status, data } = await ask(wanted);
  if (status === 0) return current.complain(words.unreachable);
  if (status !== 200 || !data.html) return window.location.assign(wanted);
  history.pushState(null, "", wanted);
  ahead.forget();
  show(data.html);
}

/** Back and Forward: the address has changed already, the item follows. */
async function follow() {
  const wanted = window.location.pathname;
  // A jump within the page, such as the skip link's.
  if (wanted === path) return;
  const { status, data } = await ask(window.location.href);
  if (wanted !== window.location.pathname) return;
  if (status === 200 && data.html) {
    ahead.forget();
    show(data.html);
  } else if (status === 0) current.complain(words.unreachable);
  else window.location.reload();
}

document.addEventListener("answer", onAnswer);
document.addEventListener("keydown", onKey);
window.addEventListener("popstate", follow);
pause.addEventListener("close", endBreak);
const first = document.getElementById("item");
clock.restart(Number(first.dataset.limit));
adopt(first, await load(first));
own.load();
outbox.flush();
