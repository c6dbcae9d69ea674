// The list of marked errors: a button each, and an editor below the one that is open.

import { levelOf } from "./marks.js";

const LONG = 60;
// Wanted when an error is opened; then no connection is needed. Until it is here that asks again.
let editing;
const bring = () => (editing ??= import("./span-editor.js").catch(() => (editing = null)));
bring();

/** The whole names of the categories that may be chosen, by key. */
const named = (nodes, before = "") => nodes.flatMap(([key, label, below]) =>
  (below.length ? named(below, `${before}${label}: `) : [[key, before + label]]));

/** `box` has the words and the editor; `on` does what the list is asked for: quote, language, origin, open, close, remove, bringBack, change. */
export function makeSpanList(root, box, on) {
  const words = box.dataset;
  const place = root.querySelector(".spans");
  const template = box.querySelector("template").content;
  const radios = [...template.querySelectorAll("[name=severity]")];
  const nodes = JSON.parse(words.categories);
  const labels = new Map(named(nodes));
  let isOpened = null;
  let editor = null;
  // Keys meant for an editor on its way.
  let early = [];
  const label = (severity) =>
    radios.find((radio) => radio.value === severity)?.nextElementSibling.textContent.trim() ?? severity;

  // Lines stay as they are while their error does: moving an editor would take its focus away.
  let lines = new Map();

  function show(spans, opened, gone) {
    if (opened !== isOpened) early = [];
    isOpened = opened;
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
    if (isOpen) edit(span, item);
    else item.querySelector(".editor, [role=alert]")?.remove();
  }

  async function edit(span, item) {
    const module = await bring();
    if (span !== isOpened || item.querySelector(".editor")) return;
    item.querySelector("[role=alert]")?.remove();
    if (!module) {
      early = [];
      return item.append(template.lastElementChild.cloneNode(true));
    }
    editor = module.makeEditor(template, words, { nodes, labels }, span, on);
    item.append(editor.root);
  }

  function focusEditor() {
    if (!isOpened) return;
    editor?.focus();
    document.querySelector(".mark-open")?.scrollIntoView({ block: "nearest" });
    for (const key of early.splice(0)) {
      document.activeElement.dispatchEvent(
        new KeyboardEvent("keydown", { ...key, bubbles: true, cancelable: true }));
    }
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
    const rest = [label(span.severity), labels.get(span.category),
      span.side === "source" && words.gray, on.origin(span)];
    const said = document.createElement("span");
    said.className = "said";
    said.textContent = rest.filter(Boolean).join(" · ");
    parts.append(mark, " ", said);
    return parts;
  }

  return {
    show,
    label,
    hasCategories: labels.size > 0,
    weights: Object.fromEntries(radios.map((radio) => [radio.value, Number(radio.dataset.weight)])),
    focusEditor: () => bring().then(focusEditor),
    isComing: () => Boolean(isOpened && editing
      && !lines.get(isOpened).item.querySelector(".editor")),
    keep({ key, code }) {
      early.push({ key, code });
    },
  };
}
