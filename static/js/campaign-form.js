// The campaign form follows the chosen protocol and assignment: the protocol's question stands in
// the empty question field, and fields that play no part are hidden. Without this script all of
// them are there. What the numbers of control items can find out is said as they are typed, by the
// rules of annotation/quality/reach.py.

const form = document.querySelector("form[data-campaign-form]");
const protocols = JSON.parse(document.getElementById("protocols").textContent);
const question = form.querySelector("[name=question]");
const about = document.getElementById("protocol-about");

function show(name, isShown) {
  const part = form.querySelector(`[data-field="${name}"]`);
  if (part && !part.querySelector(".errorlist")) part.hidden = !isShown;
}

const doubt = form.querySelector("[data-doubt]");

function testable(traps, badReferences, rule) {
  if (traps >= rule.items || badReferences >= rule.fail) return "enough";
  if (badReferences >= rule.pass) return "passes alone";
  return traps > 0 || badReferences > 0 ? "few" : "none";
}

function tellDoubt(isScored) {
  const number = (name) => Number(form.elements[name].value) || 0;
  const { items, fail, pass } = doubt.dataset;
  const traps = isScored ? number("traps_per_annotator") : 0;
  const found = testable(traps, number("bad_references_per_annotator"), {
    items: Number(items), fail: Number(fail), pass: Number(pass),
  });
  for (const line of doubt.querySelectorAll("[data-when]")) line.hidden = line.dataset.when !== found;
  doubt.querySelector("[data-unscored]").hidden = isScored;
  doubt.hidden = ![...doubt.children].some((line) => !line.hidden);
}

/** The systems of a custom screen: in the hidden field, or in the cells of a form with errors. */
function customSystems() {
  const { answers, "answers-systems": cell } = form.elements;
  return cell ? cell.value : JSON.parse(answers.value || "{}").systems;
}

function follow() {
  const chosen = protocols[form.elements.protocol.value];
  const isFull = Number(form.elements.length_ratio.value) === 1;
  const systems = customSystems() || (chosen?.together ? "several" : "one");
  if (chosen) [question.placeholder] = chosen[systems].slice(isFull ? 0 : 1);
  about.textContent = chosen?.about ?? "";
  show("systems_per_screen", systems === "several");
  tellDoubt(!chosen || chosen.scored);
  const mode = form.elements.assignment_mode.value;
  const isPool = mode !== "static";
  for (const name of ["exploration_percent", "cold_start"]) show(name, mode === "dynamic");
  show("check_percent", isPool);
  show("rotated_checks", isPool && systems === "several");
  for (const name of ["items_per_annotator", "max_same_source", "claim_minutes"]) show(name, isPool);
}

form.addEventListener("change", follow);
form.addEventListener("input", follow);
follow();
