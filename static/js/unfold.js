// Groups of a table that open in place. Without scripts, their links lead to a list of their own.

for (const link of document.querySelectorAll("[data-unfolds]")) {
  const part = document.getElementById(link.dataset.unfolds);
  const show = (isOpen) => {
    part.hidden = !isOpen;
    link.setAttribute("aria-expanded", String(isOpen));
  };
  link.setAttribute("role", "button");
  link.setAttribute("aria-controls", part.id);
  link.addEventListener("click", (event) => {
    event.preventDefault();
    show(part.hidden);
  });
  link.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    show(part.hidden);
  });
  show(false);
}
