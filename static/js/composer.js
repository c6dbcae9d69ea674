// A task as it is typed: stored as a draft and drawn as annotators will see it, by one request for
// each change. A page that nobody changed stores nothing. What cannot be stored is said beside its
// field, and the last screen that could be drawn stays.

import { build } from "./preview.js";
import { ask, submit } from "./send.js";

const PAUSE_MS = 400;
// The first change makes the address of the campaign from its name, which somebody may be typing.
const FIRST_PAUSE_MS = 1_200;
const RETRY_MS = 5_000;
const form = document.querySelector("form[data-campaign-form]");
const live = document.querySelector("[data-live]");
const page = document.getElementById("annotate");
const language = live.querySelector("select");
const screenState = live.querySelector("[role=status]");
const state = document.querySelector("[data-state]");
const refused = form.querySelector("[data-refused]");
const conflict = form.querySelector("[data-conflict]");
// Changes are numbered; `sent` is a request without an answer, which is repeated as it was.
let changes = 0, stored = 0, timer = 0, sent = null, running = null, isLeaving = false;

function say(name) {
  state.dataset.state = name;
  state.textContent = state.dataset[name] ?? "";
}

function tell(errors) {
  for (const old of form.querySelectorAll(".errorlist")) old.remove();
  const rest = [];
  for (const [name, texts] of Object.entries(errors)) {
    const field = form.querySelector(`[data-field="${name}"]`);
    if (!field) rest.push(...texts);
    else {
      const list = document.createElement("ul");
      list.className = "errorlist";
      for (const text of texts) list.appendChild(document.createElement("li")).textContent = text;
      field.append(list);
      field.hidden = false;
      for (let fold = field.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    }
  }
  refused.textContent = rest.join(" ");
  refused.hidden = !rest.length;
}

async function show({ html, errors }) {
  screenState.textContent = html ? "" : screenState.dataset[errors ? "faulty" : "unreached"];
  page.classList.toggle("stale", !html);
  if (!html) return;
  [page.lang, page.dir] = [language.value, language.value === "ar" ? "rtl" : "ltr"];
  page.innerHTML = html;
  page.querySelector("details.instructions")?.removeAttribute("open");
  await build(page);
}

function fields() {
  const data = new FormData(form);
  data.append("language", language.value);
  return data;
}

/** Draw without storing: the first screen of the page, and another language. */
async function draw() {
  const number = changes;
  const { data } = await ask(live.dataset.live, fields());
  if (number === changes) await show(data);
}

function hidden(name, value) {
  let input = form.elements[name];
  if (!input) {
    input = form.appendChild(document.createElement("input"));
    Object.assign(input, { type: "hidden", name });
  }
  input.value = value;
}

async function take({ status, data }, number) {
  if (status === 0 || status >= 500) {
    say("unreached");
    timer = setTimeout(save, RETRY_MS);
    return false;
  }
  sent = null;
  if (!data.errors) {
    say(status === 404 ? "gone" : "signedOut");
    return false;
  }
  if (data.version) hidden("version", data.version);
  for (const [name, text] of Object.entries(data.groups ?? {})) {
    const now = form.querySelector(`[data-group="${name}"] > summary .now`);
    if (now) now.textContent = text;
  }
  tell(data.errors);
  conflict.hidden = status !== 409;
  const isLast = number === changes;
  say(status === 409 ? "conflict" : status !== 200 ? "refused" : isLast ? "saved" : "saving");
  if (status === 200) {
    stored = number;
    if (form.elements.key) {
      form.elements.key.remove();
      form.action = data.address;
      history.replaceState(null, "", data.address);
    }
  }
  await show(data);
  return status !== 409 && number !== changes;
}

async function run() {
  let isMore = true;
  while (isMore) {
    sent ??= { number: changes, fields: fields() };
    say("saving");
    isMore = await take(await submit(form.getAttribute("action") ?? location.href, sent.fields), sent.number);
  }
}

function save() {
  clearTimeout(timer);
  running ??= run().finally(() => { running = null; });
  return running;
}

function later() {
  changes += 1;
  if (!conflict.hidden) return;
  if (state.dataset.state === "saved") say("saving");
  clearTimeout(timer);
  timer = setTimeout(save, form.elements.key ? FIRST_PAUSE_MS : PAUSE_MS);
}

// A first change that is sent again, because its answer was lost, makes no second draft.
if (form.elements.key) form.elements.key.value = crypto.getRandomValues(new Uint32Array(4)).join("-");
live.hidden = false;
const isWide = matchMedia("(min-width: 75rem)");
function fold() {
  for (const part of document.querySelectorAll("[data-fold]")) part.open = isWide.matches;
}
isWide.addEventListener("change", fold);
fold();

form.addEventListener("input", later);
conflict.querySelector("button").addEventListener("click", save);
language.addEventListener("change", draw);
page.addEventListener("submit", (event) => event.preventDefault());
// A request under way ends first: the form needs the version that it stores.
form.addEventListener("submit", async (event) => {
  clearTimeout(timer);
  if (running) {
    event.preventDefault();
    await running;
    form.requestSubmit(event.submitter);
  } else isLeaving = true;
});
conflict.querySelector("a").addEventListener("click", () => { isLeaving = true; });
addEventListener("beforeunload", (event) => {
  if (isLeaving || stored === changes) return;
  save();
  event.preventDefault();
});
// A page that the browser brings back has an old version of the draft.
addEventListener("pageshow", (event) => {
  const [{ type }] = performance.getEntriesByType("navigation");
  if (event.persisted || type === "back_forward") location.reload();
});
draw();
