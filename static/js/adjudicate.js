// Keys before a reviewer: a digit begins with that answer, j and k go to the next and previous item,
// Enter sends the decision.

const WAYS = { j: "a[rel=next]", k: "a[rel=prev]" };

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  if (event.defaultPrevented || event.target.closest("input:not([type=range]), textarea, select")) return;
  if (event.key === "Enter") {
    if (event.repeat || event.target.closest("a, button, summary")) return;
    document.querySelector("#item form").requestSubmit();
  } else {
    const way = WAYS[event.key] ?? (/^[1-9]$/.test(event.key) && `[data-take="${event.key}"]`);
    const link = way && document.querySelector(way);
    if (!link) return;
    link.click();
  }
  event.preventDefault();
});
