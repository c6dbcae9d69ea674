// The list of marked errors: a button each, and an editor below the one that is open.

import { levelOf } from "./marks.js";
import { makeTaxonomy } from "./taxonomy.js";

const LONG = 60;

/** `box` has the words and the editor; `on` does what the list is asked for: quote, language, origin, open, close, remove, bringBack, change. */
export function makeSpanList(root, box, on) {
  const words = box.dataset;
  const place = root.querySelector(".spans");
  const template = box.querySelector("template").content;
  const radios = [...template.querySelectorAll("[name=severity]")];
  const taxonomy = makeTaxonomy(JSON.parse(words.categories));
  let tree = null;
  const label = (severity) =>
    radios.find((radio) => radio.value === severity)?.nextElementSibling.textContent ?? severity;

  // Lines stay as they are while their error does: moving an editor would take its focus away.
  let lines = new Map();

  function show(spans, opened, gone) {
    root.querySelector(".marked").hidden = !spans.length && !gone.length;
    lines = new Map(spans.map((span) => [span, lines.get(span) ?? makeLine(span)]));
    for (const [span, line] of lines) update(line, span, span === opened);
    const items = [...lines.values()].map(({ item }) => item);
    const isMoved = items.some((item, number) => item !== place.children[number]);
    if (isMoved) place.replaceChildren(...items);
    while (place.children.length > items.length) place.lastChild.remove();
    showGone(gone);
  }

  /** What was marked beforehand and taken away can be had back. */
  function showGone(gone) {
    let removed = place.parentElement.querySelector(".gone");
    if (!removed && gone.length) {
      removed = document.createElement("ul");
      removed.className = "spans gone";
      removed.setAttribute("aria-label", words.gone);
      place.after(removed);
    }
    removed?.replaceChildren(...gone.map(makeGone));
  }

  function makeGone(span) {
    const item = document.createElement("li");
    const text = document.createElement("del");
    text.append(describe(span));
    const back = makeButton("quiet", () => on.bringBack(span));
    back.textContent = words.restore;
    back.setAttribute("aria-label", `${words.restore}: ${on.quote(span)}`);
    item.append(text, back);
    return item;
  }

  function makeLine(span) {
    const item = document.createElement("li");
    if (on.isLocked) return { item, text: item };
    const toggle = () => (item.querySelector(".editor") ? on.close() : on.open(span));
    const text = makeButton("span", toggle);
    const cross = makeButton("quiet cross", () => on.remove(span));
    cross.textContent = "✕";
    cross.setAttribute("aria-label", `${words.delete}: ${on.quote(span)}`);
    item.append(text, cross);
    return { item, text };
  }

  function update({ item, text }, span, isOpen) {
    text.replaceChildren(describe(span));
    if (on.isLocked) return;
    text.setAttribute("aria-expanded", String(isOpen));
    const editor = item.querySelector(".editor");
    if (isOpen && !editor) item.append(makeEditor(span));
    else if (!isOpen) editor?.remove();
  }

  function makeButton(className, onClick) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = className;
    button.addEventListener("click", onClick);
    return button;
  }

  /** “quote”, severity, category, and which text. */
  function describe(span) {
    const parts = document.createDocumentFragment();
    const quote = on.quote(span);
    const mark = document.createElement("bdi");
    mark.className = `mark mark-${levelOf(span.severity)}`;
    mark.lang = on.language(span);
    mark.textContent = quote.length > LONG ? `${quote.slice(0, LONG)}…` : quote;
    const rest = [label(span.severity), taxonomy.label(span.category),
      span.side === "source" && words.gray, on.origin(span)];
    const said = document.createElement("span");
    said.className = "said";
    said.textContent = rest.filter(Boolean).join(" · ");
    parts.append(mark, " ", said);
    return parts;
  }

  function makeEditor(span) {
    const editor = template.firstElementChild.cloneNode(true);
    for (const radio of editor.querySelectorAll("[name=severity]")) {
      radio.checked = radio.value === span.severity;
      radio.addEventListener("change", () => on.change(span, { severity: radio.value }));
    }
    tree = taxonomy.isEmpty ? null : taxonomy.makeTree(words, span.category, (category) => {
      on.change(span, { category });
      on.close();
    });
    if (tree) editor.querySelector("[data-tree]").replaceWith(tree.root);
    editor.querySelector("[data-done]").addEventListener("click", on.close);
    editor.querySelector("[data-remove]").addEventListener("click", () => on.remove(span));
    editor.addEventListener("keydown", (event) => onKey(event, span, editor));
    return editor;
  }

  /** In an editor severities have the keys that mark, and categories their own. */
  function onKey(event, span, editor) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const severity = on.severityOf(event);
    const isEnter = event.key === "Enter" && !event.target.closest("button");
    if (event.key === "Escape" || isEnter) on.close();
    else if (severity) {
      on.change(span, { severity });
      editor.querySelector(`[value="${severity}"]`).checked = true;
    } else if (!tree?.press(event)) return;
    event.preventDefault();
    event.stopPropagation();
  }

  return {
    show,
    label,
    hasCategories: !taxonomy.isEmpty,
    weights: Object.fromEntries(radios.map((radio) => [radio.value, Number(radio.dataset.weight)])),
    focusEditor() {
      if (tree) tree.focus();
      else place.querySelector(".editor input:checked")?.focus();
    },
  };
}
