// The controls of a page act as soon as they change: the address follows, and the page comes back
// where it was, with the same control in focus and the same parts open. On a phone they fold into
// one line.

const KEY = "rail";

// What an address holds: nothing that is empty or the first of its list, which is the default, and
// no list of which all, or the usual ones, are ticked.
function addressOf(form) {
  const query = new URLSearchParams();
  const isUsual = (box) => box.checked === "usual" in box.dataset;
  const whole = [
    ...[...form.querySelectorAll("[data-all]")].filter((list) => !list.querySelector("input:not(:checked)")),
    ...[...form.querySelectorAll("details[data-usual]")].filter((list) => [...list.querySelectorAll("input")].every(isUsual)),
  ];
  const names = new Set(whole.map((list) => list.querySelector("input")?.name));
  for (const [name, value] of new FormData(form)) {
    const field = form.elements.namedItem(name);
    const isDefault = field instanceof HTMLSelectElement && !field.multiple && field.options[0].value === value && !("keep" in field.dataset);
    if (value !== "" && !isDefault && !names.has(name)) query.append(name, value);
  }
  const text = query.toString();
  return location.pathname + (text ? `?${text}` : "");
}

function go(form, control) {
  const open = [...document.querySelectorAll(".rail details[open][id]")].map((each) => each.id);
  const isUnfolded = form.querySelector(".fold")?.getAttribute("aria-expanded") === "true";
  const isMarked = control.type === "radio" || control.type === "checkbox";
  const place = { path: location.pathname, open, isUnfolded, y: scrollY, name: control.name };
  place.value = isMarked ? control.value : null;
  sessionStorage.setItem(KEY, JSON.stringify(place));
  location.assign(addressOf(form));
}

function restore(form) {
  const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  sessionStorage.removeItem(KEY);
  if (kept?.path !== location.pathname) return;
  for (const id of kept.open) document.getElementById(id)?.setAttribute("open", "");
  if (kept.isUnfolded) form.querySelector(".fold").setAttribute("aria-expanded", "true");
  const fields = [...form.elements].filter((each) => each.name === kept.name);
  const field = fields.find((each) => kept.value === null || each.value === kept.value);
  field?.focus({ preventScroll: true });
  scrollTo(0, kept.y);
}

// What is chosen may be longer than its field.
function entitle(form) {
  for (const field of form.querySelectorAll("select:not([multiple])")) field.title = field.selectedOptions[0]?.textContent.trim() ?? "";
}

function adopt(form) {
  entitle(form);
  form.addEventListener("change", (event) => go(form, event.target));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(form, document.activeElement);
  });
  form.querySelector(".fold").addEventListener("click", ({ currentTarget: button }) => {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!isOpen));
  });
}

// A line of tabs or pages that scrolls sideways begins at the current one; one in focus is seen whole.
function bring(link) {
  link.scrollIntoView({ block: "nearest", inline: "nearest" });
}

for (const link of document.querySelectorAll(":is(.tabs, .pages) a[aria-current]")) bring(link);
for (const line of document.querySelectorAll(".tabs, .pages")) {
  line.addEventListener("focusin", (event) => bring(event.target));
}
let form = document.querySelector("#controls");
if (form) {
  adopt(form);
  restore(form);
}
// The form comes again with the first numbers of a page.
document.addEventListener("document-swapped", () => {
  const now = document.querySelector("#controls");
  if (now && now !== form) adopt(now);
  form = now;
});
