// The preview of an import: once a choice differs from those that it was made with, its main button
// reads the files again. Without this script both buttons are there, and the server compares.

function differs(field) {
  if (field.type === "hidden") return false;
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (!field.options) return field.value !== field.defaultValue;
  return [...field.options].some((each) => each.selected && !each.defaultSelected && !standsFirst(field));
}

// Of a list without a stated choice, the first is shown.
function standsFirst(field) {
  return field.selectedIndex === 0 && ![...field.options].some((each) => each.defaultSelected);
}

for (const form of document.querySelectorAll("form[data-choices]")) {
  const store = form.querySelector("[data-store]"), read = form.querySelector("[data-read]");
  const fields = [...form.elements].filter((each) => each.name && each.type !== "submit");
  const follow = () => {
    const isChanged = "changed" in form.dataset || !store || fields.some(differs);
    if (store) [store.hidden, store.type] = [isChanged, isChanged ? "button" : "submit"];
    if (!read) return;
    read.hidden = !isChanged;
    read.classList.toggle("primary", isChanged);
  };
  form.addEventListener("input", follow);
  form.addEventListener("change", follow);
  // A browser that goes back fills in what was chosen.
  addEventListener("pageshow", follow);
  follow();
}
