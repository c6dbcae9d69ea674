// Adds "All" and "None" to every group of checkboxes that holds a data-check-all element.

function addButton(bar, label, checked) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = label;
  button.addEventListener("click", () => {
    const boxes = bar.closest("fieldset").querySelectorAll("input[type=checkbox]:enabled");
    for (const box of boxes) box.checked = checked;
  });
  bar.append(button);
}

for (const bar of document.querySelectorAll("[data-check-all]")) {
  addButton(bar, "All", true);
  addButton(bar, "None", false);
  bar.hidden = false;
}
