// The item page: keys, sending an answer, and going from item to item without a reload.

import { makeSlider } from "./slider.js";
import { ask, submit } from "./send.js";

const page = document.getElementById("annotate");
const keys = document.getElementById("keys");
const words = page.dataset;
let card, slider;
let isSending = false;
let path = window.location.pathname;

/** Make a card work. */
function adopt(element) {
  card = element;
  slider = makeSlider(card);
  const form = card.querySelector("form");
  form.noValidate = true;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send();
  });
  form.addEventListener("reset", (event) => {
    event.preventDefault();
    slider.reset();
    complain("");
    slider.focus();
  });
  form.querySelector("[data-keys]").addEventListener("click", () => keys.showModal());
  card.classList.add("is-ready");
}

function show(html) {
  const next = new DOMParser().parseFromString(html, "text/html").getElementById("item");
  card.replaceWith(next);
  adopt(next);
  path = window.location.pathname;
  document.title = `${card.dataset.title} · Touchstone`;
  window.scrollTo(0, 0);
  slider.focus();
}

function say(sentence) {
  document.getElementById("said").textContent = sentence;
}

function complain(sentence, ...more) {
  card.querySelector("#problem").replaceChildren(sentence, ...more);
}

async function send() {
  if (isSending) return;
  if (slider.value === null) {
    complain(words.missing);
    slider.refuse();
    return;
  }
  const sent = card;
  const form = card.querySelector("form");
  const { csrfmiddlewaretoken, ...fields } = Object.fromEntries(new FormData(form));
  complain("");
  setSending(sent, true);
  const answer = await submit(form.action, fields);
  setSending(sent, false);
  if (answer.status === 200 && answer.data.next) proceed(answer.data, sent);
  else fail(answer, sent, fields);
}

function setSending(element, on) {
  isSending = on;
  const button = element.querySelector("[type=submit]");
  button.dataset.label ??= button.textContent;
  button.textContent = on ? words.sending : button.dataset.label;
  // Not `disabled`: that would take the focus away.
  button.setAttribute("aria-disabled", String(on));
}

function proceed(data, sent) {
  if (!data.html) {
    window.location.assign(data.next);
    return;
  }
  // Whoever went elsewhere meanwhile is not pulled along.
  if (sent !== card) return say(words.saved);
  history.pushState(null, "", data.next);
  show(data.html);
  say(`${words.saved} ${card.dataset.title}`);
}

function fail({ status, late, data }, sent, fields) {
  for (const [name, value] of Object.entries(data.form ?? {})) {
    sent.querySelector(`[name=${name}]`).value = value;
  }
  complain(explanation(status, late, data), ...waysOut(status, sent, fields));
  if (sent === card && status === 422) slider.refuse();
}

function explanation(status, late, data) {
  if (status === 0) return late ? words.late : words.offline;
  if (status === 404) return words.foreign;
  if (status >= 500) return words.broken;
  return data.error ?? words.refused;
}

/** Links that carry the score: to sign in again, or back to an item that was left meanwhile. */
function waysOut(status, sent, fields) {
  const path = new URL(sent.querySelector("form").action).pathname;
  const { score: unsent, started } = fields;
  const back = `${path}?${new URLSearchParams({ unsent, started })}`;
  if (status === 401) {
    const signIn = `${words.login}?${new URLSearchParams({ next: back })}`;
    return [" ", link(signIn, words.signIn), words.personal];
  }
  return sent === card ? [] : [" ", link(back, sent.dataset.title)];
}

function link(href, text) {
  const element = document.createElement("a");
  element.href = href;
  element.textContent = text;
  return element;
}

/** Enter on a button or a link keeps its own meaning. */
function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || keys.open) return;
  if (event.target.closest("input:not([type=range]), textarea, select")) return;
  if (event.key === "?") keys.showModal();
  else if (/^[0-9]$/.test(event.key)) slider.set(Number(event.key) * 10);
  else if (event.key === "Enter" && !event.target.closest("a, button, summary")) {
    // A key held down must not run through the items.
    if (!event.repeat) send();
  } else return;
  event.preventDefault();
}

/** Back and Forward: the address has changed already, the card follows. */
async function follow() {
  const wanted = window.location.pathname;
  // A jump within the page, such as the skip link's.
  if (wanted === path) return;
  const { status, data } = await ask(window.location.href);
  if (wanted !== window.location.pathname) return;
  if (status === 200) show(data.html);
  else if (status === 0) complain(words.unreachable);
  else window.location.reload();
}

adopt(document.getElementById("item"));
slider.focus();
document.addEventListener("keydown", onKey);
window.addEventListener("popstate", follow);
