// The list of marked errors: a button each, and an editor below the one that is open.

const LONG = 60;

/** `box` has the words and the editor; `on` does what the list is asked for: quote, language, open, close, remove, change. */
export function makeSpanList(root, box, on) {
  const words = box.dataset;
  const place = root.querySelector(".spans");
  const template = box.querySelector("template").content;
  const radios = [...template.querySelectorAll("[name=severity]")];
  const options = [...template.querySelectorAll("option")];
  const label = (severity) =>
    radios.find((radio) => radio.value === severity)?.nextElementSibling.textContent ?? severity;

  // Lines stay as they are while their error does: moving an editor would take its focus away.
  let lines = new Map();

  function show(spans, opened) {
    root.querySelector(".marked").hidden = !spans.length;
    lines = new Map(spans.map((span) => [span, lines.get(span) ?? makeLine(span)]));
    for (const [span, line] of lines) update(line, span, span === opened);
    const items = [...lines.values()].map(({ item }) => item);
    const isMoved = items.some((item, number) => item !== place.children[number]);
    if (isMoved) place.replaceChildren(...items);
    while (place.children.length > items.length) place.lastChild.remove();
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
    mark.className = `mark mark-${span.severity}`;
    mark.lang = on.language(span);
    mark.textContent = quote.length > LONG ? `${quote.slice(0, LONG)}…` : quote;
    const category = options.find((option) => option.value === span.category)?.dataset.label;
    const rest = [label(span.severity), category, span.side === "source" && words.gray];
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
    const select = editor.querySelector("select");
    if (select) {
      select.value = span.category;
      select.addEventListener("change", () => on.change(span, { category: select.value }));
    }
    editor.querySelector("[data-done]").addEventListener("click", on.close);
    editor.querySelector("[data-remove]").addEventListener("click", () => on.remove(span));
    editor.addEventListener("keydown", (event) => {
      const isEnter = event.key === "Enter" && !event.target.closest("button");
      if (event.key !== "Escape" && !isEnter) return;
      event.preventDefault();
      on.close();
    });
    return editor;
  }

  return {
    show,
    label,
    hasCategories: options.length > 0,
    weights: Object.fromEntries(radios.map((radio) => [radio.value, Number(radio.dataset.weight)])),
    focusEditor() {
      const select = place.querySelector(".editor select");
      (select ?? place.querySelector(".editor input:checked"))?.focus();
    },
  };
}
