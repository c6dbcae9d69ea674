// The first screen of a task as it is typed: drawn by the server, which stores nothing. What cannot
// be drawn is said beside its field, and the last screen that could stays.

import { build } from "./preview.js";
import { ask } from "./send.js";

const PAUSE_MS = 400;
const form = document.querySelector("form[data-campaign-form]");
const live = document.querySelector("[data-live]");
const page = document.getElementById("annotate");
const language = live.querySelector("select");
const state = live.querySelector("[role=status]");
let round = 0, timer = 0;

function tell(name, errors) {
  const field = form.querySelector(`[data-field="${name}"]`);
  for (const old of field.querySelectorAll(".errorlist")) old.remove();
  if (!errors.length) return;
  const list = document.createElement("ul");
  list.className = "errorlist";
  for (const error of errors) list.appendChild(document.createElement("li")).textContent = error;
  field.append(list);
  field.closest("details").open = true;
}

async function draw() {
  const own = (round += 1);
  const fields = new FormData(form);
  fields.append("language", language.value);
  const { data } = await ask(live.dataset.live, fields);
  if (own !== round) return;
  for (const [name, errors] of Object.entries(data.errors ?? {})) tell(name, errors);
  const { html } = data;
  state.textContent = html ? "" : state.dataset[data.errors ? "faulty" : "unreached"];
  page.classList.toggle("stale", !html);
  if (!html) return;
  [page.lang, page.dir] = [language.value, language.value === "ar" ? "rtl" : "ltr"];
  page.innerHTML = html;
  await build(page);
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(draw, PAUSE_MS);
}

live.hidden = false;
form.addEventListener("input", later);
language.addEventListener("change", draw);
page.addEventListener("submit", (event) => event.preventDefault());
draw();
