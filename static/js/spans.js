// Marked errors: made in the texts, listed below them, each with an editor of its own.

import { makeMarkedText } from "./marks.js";
import { makeSpanList } from "./span-list.js";

const SPANS = "spans";

/** Make the texts of a sheet markable; `changed` is called after every change. */
export function makeSpans(root, changed, say) {
  const box = root.querySelector("[data-marking]");
  const words = box.dataset;
  const field = root.querySelector(`form [name$=${SPANS}]`);
  const chosenText = box.querySelector("[data-chosen]");
  const buttons = [...box.querySelectorAll("[data-severity]")];
  const weights = JSON.parse(words.weights);
  const texts = {};
  let spans = [];
  let chosen = null;
  let opened = null;

  // --- What is marked -------------------------------------------------------------------------
  const quote = ({ side, start, end }) => texts[side].ruler.text.slice(start, end);
  const isSame = (one, other) =>
    ["side", "start", "end", "severity", "category"].every((name) => one[name] === other[name]);
  const isWhere = (one, other) =>
    ["side", "start", "end"].every((name) => one[name] === other[name]);

  function stored() {
    return spans.map(({ side, start, end, severity, category }) => {
      const { toPoint } = texts[side].ruler;
      return { side, start: toPoint(start), end: toPoint(end), severity, category };
    });
  }

  function restore(json) {
    spans = JSON.parse(json || "[]").filter(({ side }) => texts[side]).map((span) => {
      const { toUnit } = texts[span.side].ruler;
      return { ...span, start: toUnit(span.start), end: toUnit(span.end) };
    });
    opened = null;
    show();
  }

  function show() {
    for (const [side, text] of Object.entries(texts)) {
      const own = spans.filter((span) => span.side === side);
      text.draw(own.map((span) => ({ ...span, isOpen: span === opened })));
    }
    list.show(spans, opened);
    if (field) field.value = JSON.stringify(stored());
    const penalty = box.querySelector(".penalty output");
    if (penalty) penalty.textContent = String(Math.round(penaltyOf(spans) * 100) / 100);
    changed();
  }

  const penaltyOf = (all) => all.reduce((sum, { category, severity }) =>
    sum + (weights[category]?.[severity] ?? list.weights[severity]), 0);

  // --- Marking --------------------------------------------------------------------------------
  function onSelect(side, stretch) {
    // What is selected in one text ends what was selected in the other.
    if (!stretch && chosen && chosen.side !== side) return;
    for (const [other, text] of Object.entries(texts)) if (other !== side) text.drop();
    chosen = stretch && { side, ...stretch };
    for (const button of buttons) button.disabled = !chosen;
    if (!chosenText) return;
    chosenText.textContent = chosen ? `“${quote(chosen)}”` : chosenText.dataset.none;
  }

  function mark(severity) {
    if (!chosen) return say(words.choose);
    const span = { ...chosen, severity, category: "" };
    const isOpen = (each) => !list.hasCategories || !each.category;
    const same = spans.find((each) => isWhere(each, span) && isOpen(each));
    if (same) same.severity = severity;
    else spans.push(span);
    spans.sort((one, other) => (one.side < other.side) - (one.side > other.side)
      || one.start - other.start || one.end - other.end);
    opened = list.hasCategories ? same ?? span : null;
    onSelect(span.side, null);
    show();
    texts[span.side].select(span.end, span.end);
    if (opened) list.focusEditor();
    say(words.marked.replace("{severity}", list.label(severity)).replace("{quote}", quote(span)));
  }

  /** The smallest error at a place, for a click or a key to open. */
  function at(side, unit) {
    const here = spans.filter((each) =>
      each.side === side && each.start <= unit && unit < each.end);
    return here.sort((one, other) => one.end - one.start - (other.end - other.start))[0];
  }

  function open(span) {
    if (!span || !field) return false;
    opened = span;
    show();
    list.focusEditor();
    return true;
  }

  function close() {
    const side = opened?.side ?? "target";
    opened = null;
    show();
    texts[side]?.focus();
  }

  function remove(span) {
    const text = quote(span);
    spans = spans.filter((each) => each !== span);
    opened = null;
    show();
    texts[span.side].focus();
    say(words.deleted.replace("{quote}", text));
  }

  function onKey(side, event, { unit, chosen: isChosen }) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    const here = at(side, unit) ?? at(side, unit - 1);
    const severity = severityOf(event);
    if (severity) mark(severity);
    else if (event.key === "Enter") {
      if (isChosen) mark("minor");
      else if (!open(here)) say(words.choose);
    } else if ((event.key === "Delete" || event.key === "Backspace") && here) remove(here);
    else return;
    event.preventDefault();
  }

  /** By the letter, or on keyboards without it by the place of the key. */
  function severityOf({ key, code, shiftKey }) {
    const letter = /^[a-z]$/i.test(key) ? key : code.match(/^Key([A-Z])$/)?.[1];
    const wanted = shiftKey ? letter?.toUpperCase() : letter?.toLowerCase();
    return wanted && buttons.find((button) => button.dataset.key === wanted)?.dataset.severity;
  }

  // --- Putting it together ----------------------------------------------------------------------
  const list = makeSpanList(box, {
    isLocked: !field,
    quote,
    language: ({ side }) => root.querySelector(`[data-side=${side}]`).lang,
    open,
    close,
    remove,
    change(span, values) {
      Object.assign(span, values);
      show();
    },
  });
  for (const element of root.querySelectorAll("[data-side]")) {
    const { side } = element.dataset;
    texts[side] = makeMarkedText(element, {
      select: (stretch) => onSelect(side, stretch),
      open: (unit) => open(at(side, unit)),
      key: (event, where) => field && onKey(side, event, where),
      read: say,
    });
  }
  for (const button of buttons) {
    // Pressing a button must not take the selection away.
    button.addEventListener("pointerdown", (event) => event.preventDefault());
    button.addEventListener("click", () => mark(button.dataset.severity));
  }
  onSelect("target", null);
  restore(field?.value ?? words.spans);

  return {
    name: field?.name,
    words,
    restore,
    get count() {
      return spans.length;
    },
    focus: () => (texts.target ?? texts.source)?.focus(),
    /** An error without a category, or one that is marked twice. */
    missing() {
      const bare = list.hasCategories && spans.find((span) => !span.category);
      const twice = spans.find((span, n) => spans.some((other, m) => m < n && isSame(span, other)));
      if (!bare && !twice) return null;
      const sentence = bare ? words.uncategorised : words.twice;
      return { sentence, focus: () => open(bare || twice) };
    },
  };
}
