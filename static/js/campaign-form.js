// The campaign form follows the chosen protocol and assignment: the protocol's question stands in
// the empty question field, and fields that play no part are hidden. Without this script all of
// them are there.

const form = document.querySelector("form[data-campaign-form]");
const protocols = JSON.parse(document.getElementById("protocols").textContent);
const question = form.querySelector("[name=question]");

function show(name, isShown) {
  const part = form.querySelector(`[data-field="${name}"]`);
  if (part && !part.querySelector(".errorlist")) part.hidden = !isShown;
}

function follow() {
  const chosen = protocols[new FormData(form).get("protocol")];
  if (chosen) question.placeholder = chosen.question;
  show("systems_per_screen", !chosen || chosen.together);
  const isPool = form.elements.assignment_mode.value !== "static";
  for (const part of form.querySelectorAll("[data-pool]")) {
    if (!part.querySelector(".errorlist")) part.hidden = !isPool;
  }
}

form.addEventListener("change", follow);
follow();
