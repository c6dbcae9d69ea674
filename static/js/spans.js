// Marked errors: made in the texts, listed below them, each with an editor of its own.

import { measure } from "./graphemes.js";
import { levelOf, makeMarkedText } from "./marks.js";
import { makeSpanList } from "./span-list.js";
import { read, write } from "./store.js";

const SPANS = "spans";
const WHOLE = "touchstone:whole-words";
const NOTHING = measure("", "");
// As they are: a translation may hold "{quote}" or "$&".
const fill = (sentence, parts) => sentence.replace(/\{(\w+)\}/g, (all, name) => parts[name] ?? all);

/**
 * The bar that marks what is selected, in whichever of several texts. `box` has its sentences.
 * A marker is {mark(severity), drop(), movable(), move()}.
 */
export function makeBar(box, say) {
  const place = box.querySelector("[data-chosen]");
  const buttons = [...box.querySelectorAll(".mark-button[data-severity]")];
  for (const { firstChild, dataset } of buttons) firstChild.classList.add(`mark-${levelOf(dataset.severity)}`);
  const mover = box.querySelector("[data-move]");
  const whole = box.querySelector("[data-whole]");
  let marker = null;

  /** Whether pointers take whole words, as this person wants it. */
  const isWhole = () => read(WHOLE) ?? true;

  /** Something is selected, or with null for its quote nothing any more. */
  function take(who, quote) {
    if (marker !== who) marker?.drop();
    marker = quote === null ? null : who;
    for (const button of buttons) button.disabled = !marker;
    if (mover) mover.hidden = !marker?.movable();
    if (place) place.textContent = marker ? `“${quote}”` : place.dataset.none;
  }

  /** By the letter, or on keyboards without it by the place of the key. */
  function severityOf({ key, code, shiftKey }) {
    const letter = /^[a-z]$/i.test(key) ? key : code.match(/^Key([A-Z])$/)?.[1];
    const wanted = shiftKey ? letter?.toUpperCase() : letter?.toLowerCase();
    return wanted && buttons.find((button) => button.dataset.key === wanted)?.dataset.severity;
  }

  for (const button of buttons) {
    // Pressing a button must not take the selection away.
    button.addEventListener("pointerdown", (event) => event.preventDefault());
    button.addEventListener("click", () =>
      (marker ? marker.mark(button.dataset.severity) : say(box.dataset.choose)));
  }
  mover?.addEventListener("pointerdown", (event) => event.preventDefault());
  mover?.addEventListener("click", () => marker?.move());
  whole?.addEventListener("click", () => {
    write(WHOLE, !isWhole());
    whole.setAttribute("aria-pressed", String(isWhole()));
  });
  whole?.setAttribute("aria-pressed", String(isWhole()));
  return {
    box,
    isWhole,
    /** What Enter and a double click mark. */
    usual: (buttons.find(({ dataset }) => dataset.severity === "minor") ?? buttons[0])?.dataset.severity,
    words: box.dataset,
    weights: JSON.parse(box.dataset.weights),
    take,
    severityOf,
    isFree: (who) => !marker || marker === who,
  };
}

/**
 * Make the texts in `root` markable; `changed` is called after every change. Its errors are listed
 * in the root's `.spans`. Buttons with `data-token` stand for what has no place in the text.
 */
export function makeSpans(root, changed, say, bar) {
  const { words, weights } = bar ??= makeBar(root.querySelector("[data-marking]"), say);
  const field = root.querySelector(`[name$=${SPANS}]`);
  const tokens = [...root.querySelectorAll("[data-token]")];
  const texts = {};
  let spans = [];
  let chosen = null;
  let opened = null;
  const self = { mark, drop, movable, move };
  // What was marked beforehand, in code points; an error that came of it names its place here.
  const offered = JSON.parse(field?.dataset.offered || "[]");

  // --- What is marked -------------------------------------------------------------------------
  const ruler = (side) => texts[side]?.ruler ?? NOTHING;
  const tokenOf = ({ side, start }) =>
    side === "target" && tokens[start - ruler(side).text.length];
  const quote = (span) => (tokenOf(span)
    ? tokenOf(span).textContent : ruler(span.side).text.slice(span.start, span.end));
  const isSame = (one, other) =>
    ["side", "start", "end", "severity", "category"].every((name) => one[name] === other[name]);
  const isWhere = (one, other) =>
    ["side", "start", "end"].every((name) => one[name] === other[name]);

  function stored() {
    return spans.map((span) => {
      const { side, start, end, severity, category, offer = null } = span;
      const { toPoint } = ruler(side);
      const own = { side, start: toPoint(start), end: toPoint(end), severity, category };
      return offered.length ? { ...own, offer } : own;
    });
  }

  const here = (span) => {
    const { toUnit } = ruler(span.side);
    return { ...span, start: toUnit(span.start), end: toUnit(span.end) };
  };

  function restore(json) {
    const isHere = ({ side }) => texts[side] || side === "target";
    spans = JSON.parse(json || "[]").filter(isHere).map(here);
    opened = null;
    show();
  }

  // --- What was marked beforehand ---------------------------------------------------------------
  let first = [];
  const isOffered = ({ offer }) => Number.isInteger(offer);
  const isChanged = (span) => !isSame(span, first[span.offer]);
  const gone = () => first.filter(({ offer }) => !spans.some((span) => span.offer === offer));

  function bringBack(span) {
    if (spans.some((each) => isSame(each, span))) return say(words.twice);
    spans.push({ ...span });
    sort();
    show();
    placeOf(span).focus();
    say(fill(words.back, { quote: quote(span) }));
  }

  function show() {
    for (const [side, text] of Object.entries(texts)) {
      const own = spans.filter((span) => span.side === side && !tokenOf(span));
      text.draw(own.map((span) => ({
        ...span, isOpen: span === opened, isOffered: isOffered(span) && !isChanged(span),
      })));
    }
    for (const token of tokens) showToken(token);
    list.show(spans, opened, gone());
    if (field) field.value = JSON.stringify(stored());
    const penalty = root.querySelector(".penalty output");
    if (penalty) penalty.textContent = String(Math.round(penaltyOf(spans) * 100) / 100);
    changed();
  }

  function showToken(token) {
    const span = spans.find((each) => tokenOf(each) === token);
    token.className = span ? `token mark mark-${levelOf(span.severity)}` : "token";
    token.setAttribute("aria-pressed", String(Boolean(span)));
  }

  const penaltyOf = (all) => all.reduce((sum, { category, severity }) =>
    sum + (weights[category]?.[severity] ?? list.weights[severity]), 0);

  // --- Marking --------------------------------------------------------------------------------
  function onSelect(side, stretch) {
    // What is selected in one text ends what was selected in the other.
    if (!stretch && chosen && chosen.side !== side) return;
    if (!stretch && !bar.isFree(self)) return;
    for (const [other, text] of Object.entries(texts)) if (other !== side) text.drop();
    chosen = stretch && { side, ...stretch };
    bar.take(self, chosen && quote(chosen));
  }

  function drop() {
    chosen = null;
    for (const text of Object.values(texts)) text.drop();
  }

  /** With `isKept` what is selected stays so, to be marked otherwise. */
  function mark(severity, isKept = false) {
    if (!chosen) return say(words.choose);
    const span = { ...chosen, severity, category: "" };
    const isOpen = (each) => !list.hasCategories || !each.category;
    const same = spans.find((each) => isWhere(each, span) && isOpen(each));
    if (same) same.severity = severity;
    else spans.push(span);
    sort();
    opened = list.hasCategories ? same ?? span : null;
    if (!isKept) onSelect(span.side, null);
    show();
    if (tokenOf(span)) tokenOf(span).focus();
    else if (!isKept) texts[span.side].select(span.end, span.end);
    if (opened) list.focusEditor();
    say(fill(words.marked, { severity: list.label(severity), quote: quote(span) }));
  }

  const sort = () => spans.sort((one, other) => (one.side < other.side) - (one.side > other.side)
    || one.start - other.start || one.end - other.end);

  /** The error that what is selected can be the new place of: the open one, or one below it. */
  function movable() {
    if (!chosen) return null;
    if (opened) return isWhere(opened, chosen) ? null : opened;
    const over = spans.filter((each) => each.side === chosen.side
      && each.start < chosen.end && chosen.start < each.end);
    return over.length === 1 && !isWhere(over[0], chosen) ? over[0] : null;
  }

  function move() {
    const span = movable();
    if (!span) return say(words.choose);
    const target = { ...span, ...chosen };
    if (spans.some((each) => isSame(each, target))) return say(words.twice);
    Object.assign(span, chosen);
    sort();
    onSelect(span.side, null);
    show();
    if (tokenOf(span)) tokenOf(span).focus();
    else texts[span.side].select(span.end, span.end);
    say(fill(words.moved, { quote: quote(span) }));
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
    const target = placeOf(opened);
    opened = null;
    show();
    target?.focus();
  }

  /** Where an error is marked: its text, or its token. */
  const placeOf = (span) => (span && tokenOf(span)) || texts[span?.side ?? "target"];

  function remove(span) {
    const text = quote(span);
    spans = spans.filter((each) => each !== span);
    opened = null;
    show();
    placeOf(span).focus();
    say(fill(words.deleted, { quote: text }));
  }

  function change(span, values) {
    Object.assign(span, values);
    show();
  }

  /** A double click marks a word that is not marked yet. */
  function onDouble(side) {
    if (field && !at(side, chosen.start)) mark(bar.usual, true);
  }

  function onKey(side, event, { unit, chosen: isChosen }) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (list.isComing() && /^(\w|Backspace)$/.test(event.key)) {
      list.keep(event);
      return event.preventDefault();
    }
    const below = at(side, unit) ?? at(side, unit - 1);
    const severity = bar.severityOf(event);
    if (severity && !isChosen && below) change(below, { severity });
    else if (severity) mark(severity);
    else if (event.key === "Escape" && opened) close(); // Its editor may still be on its way.
    else if ((event.key === "v" || event.code === "KeyV") && movable()) move();
    else if (event.key === "Enter") {
      if (isChosen) mark(bar.usual);
      else if (!open(below)) say(words.choose);
    } else if ((event.key === "Delete" || event.key === "Backspace") && below) remove(below);
    else return;
    event.preventDefault();
  }

  function onToken(token, event) {
    const unit = ruler("target").text.length + tokens.indexOf(token);
    const span = spans.find((each) => tokenOf(each) === token);
    const severity = event.type === "keydown" && bar.severityOf(event);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.type === "click" && span) open(span);
    else if (event.type === "click" || severity) {
      onSelect("target", { start: unit, end: unit + 1 });
      if (severity) mark(severity);
    } else if (span && ["Delete", "Backspace"].includes(event.key)) remove(span);
    else return;
    event.preventDefault();
  }

  // --- Putting it together ----------------------------------------------------------------------
  const list = makeSpanList(root, bar.box, {
    isLocked: !field,
    quote,
    language: (span) => (tokenOf(span)
      ? "" : root.querySelector(`[data-side=${span.side}]`)?.lang ?? ""),
    open,
    close,
    remove,
    bringBack,
    origin: (span) => (isOffered(span) ? (isChanged(span) ? words.changed : words.offered) : ""),
    change,
    severityOf: bar.severityOf,
  });
  for (const element of root.querySelectorAll("[data-side]")) {
    const { side } = element.dataset;
    texts[side] = makeMarkedText(element, {
      select: (stretch) => onSelect(side, stretch),
      open: (unit) => open(at(side, unit)),
      double: () => onDouble(side),
      isWhole: bar.isWhole,
      key: (event, where) => field && onKey(side, event, where),
      read: say,
    });
  }
  for (const token of field ? tokens : []) {
    token.addEventListener("click", (event) => onToken(token, event));
    token.addEventListener("keydown", (event) => onToken(token, event));
  }
  onSelect("target", null);
  first = offered.map((span, offer) => ({ ...here(span), offer }));
  restore(field?.value ?? root.dataset.spans ?? words.spans);

  return {
    words,
    restore: (fields) => restore(fields[field?.name]),
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
