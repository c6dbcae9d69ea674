// The editor of an error: its severity, its category, and how to be rid of it.

import { makeTree } from "./taxonomy.js";

/** For one error; `categories` are {nodes, labels}, `words` and `on` as in span-list.js. */
export function makeEditor(template, words, categories, span, on) {
  const root = template.firstElementChild.cloneNode(true);
  for (const radio of root.querySelectorAll("[name=severity]")) {
    radio.checked = radio.value === span.severity;
    radio.addEventListener("change", () => on.change(span, { severity: radio.value }));
  }
  const tree = categories.labels.size ? makeTree(categories, words, span.category, (category) => {
    on.change(span, { category });
    on.close();
  }) : null;
  if (tree) root.querySelector("[data-tree]").replaceWith(tree.root);
  root.querySelector("[data-done]").addEventListener("click", on.close);
  root.querySelector("[data-remove]").addEventListener("click", () => on.remove(span));

  /** Severities have the keys that mark, and categories their own. */
  root.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const severity = on.severityOf(event);
    const isEnter = event.key === "Enter" && !event.target.closest("button");
    if (event.key === "Escape" || isEnter) on.close();
    else if (severity) {
      on.change(span, { severity });
      root.querySelector(`[value="${severity}"]`).checked = true;
    } else if (!tree?.press(event)) return;
    event.preventDefault();
    event.stopPropagation();
  });
  return { root, focus: () => (tree ? tree.focus() : root.querySelector("input:checked")?.focus()) };
}
