// "/" puts the cursor into the search of the head, unless somebody is writing.

const field = document.querySelector("#search");

document.addEventListener("keydown", (event) => {
  const writes = event.target.closest("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || writes) return;
  event.preventDefault();
  field.focus();
  field.select();
});
