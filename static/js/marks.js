// A text in which stretches can be selected and errors are drawn. Offsets are UTF-16 units.

import { measure } from "./graphemes.js";

const IS_MAC = /^Mac/.test(navigator.platform);
const BY_WEIGHT = ["neutral", "minor", "major", "critical"];

let known = "", levels = {};

/** The usual severity as which one of the campaign's own is drawn. */
export function levelOf(severity) {
  const own = document.querySelector("[data-levels]")?.dataset.levels ?? "{}";
  if (own !== known) [known, levels] = [own, JSON.parse(own)];
  return levels[severity] ?? severity;
}

/**
 * Make the paragraph `element` selectable by every means. `on` hears: `select(stretch or null)`,
 * `open(unit)`, `double()`, `key(event)`, and `read(text)` for what the caret moved over.
 * `on.isWhole()` tells whether pointers take whole words; keys are exact.
 */
export function makeMarkedText(element, on) {
  const ruler = measure(element.textContent, element.lang);
  const isRightToLeft = element.dir === "rtl";
  const caret = document.createElement("span");
  let anchor = 0, head = 0, tapped = null;
  let chosen = null;
  let pointer = "", isDown = false;

  // --- Selecting ------------------------------------------------------------------------------
  function choose(stretch) {
    chosen = stretch;
    on.select(stretch);
  }

  function select(from, to) {
    [anchor, head] = [from, to];
    const [start, end] = [place(from), place(to)];
    getSelection().setBaseAndExtent(...start, ...end);
    choose(ruler.snap(from, to));
    drawCaret();
  }

  /** The text node and offset of a place. */
  function place(unit) {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    let left = unit;
    let node = walker.nextNode();
    while (node && left > node.length) {
      left -= node.length;
      node = walker.nextNode();
    }
    return node ? [node, left] : [element, 0];
  }

  function unitOf(node, offset) {
    const range = document.createRange();
    range.selectNodeContents(element);
    if (range.comparePoint(node, offset) < 0) return 0;
    if (range.comparePoint(node, offset) > 0) return ruler.text.length;
    range.setEnd(node, offset);
    return range.toString().length;
  }

  /** The place of the cluster under the pointer; browsers tell the nearest gap between two. */
  function unitAt({ clientX: x, clientY: y }) {
    const position = document.caretPositionFromPoint?.(x, y);
    const range = position ? null : document.caretRangeFromPoint?.(x, y);
    const unit = unitOf(position?.offsetNode ?? range?.startContainer ?? element,
      position?.offset ?? range?.startOffset ?? 0);
    const before = ruler.move(unit, -1);
    const isBefore = boxes(before, unit).some((box) =>
      x >= box.left && x <= box.right && y >= box.top && y <= box.bottom);
    return isBefore ? before : unit;
  }

  function boxes(from, to) {
    const range = document.createRange();
    range.setStart(...place(from));
    range.setEnd(...place(to));
    return [...range.getClientRects()];
  }

  /** The browser's own selection, by mouse, long touch or a screen reader, counts as ours. */
  function onSelectionChange() {
    const selection = getSelection();
    if (!selection.anchorNode || !element.contains(selection.anchorNode)) return;
    anchor = unitOf(selection.anchorNode, selection.anchorOffset);
    head = unitOf(selection.focusNode, selection.focusOffset);
    const takes = pointer && on.isWhole() ? ruler.wordsOf : ruler.snap;
    choose(takes(anchor, head));
    drawCaret();
  }

  /** What is taken is what is seen to be selected. */
  function onPointerUp() {
    const began = isDown;
    isDown = false;
    if (!began || pointer === "touch" || getSelection().isCollapsed) return;
    onSelectionChange();
    if (chosen) select(chosen.start, chosen.end);
  }

  /** The word under the pointer: browsers take what lies behind the nearest gap, often a blank. */
  function onDoubleClick(event) {
    if (pointer === "touch") return;
    const { start, end } = ruler.wordAt(unitAt(event), true);
    select(start, end);
    on.double();
  }

  function onClick(event) {
    if (event.pointerType === "touch") return onTap(event);
    if (getSelection().isCollapsed) on.open(unitAt(event));
  }

  /** A tap takes a word; one more tap takes all from there to here. */
  function onTap(event) {
    const unit = unitAt(event);
    if (!tapped && on.open(unit)) return;
    const word = (on.isWhole() ? ruler.wordAt : ruler.clusterAt)(unit);
    const start = Math.min(word.start, tapped?.start ?? word.start);
    select(start, Math.max(word.end, tapped?.end ?? word.end));
  }

  // --- The caret of the keyboard ----------------------------------------------------------------
  function onKeyDown(event) {
    pointer = "";
    const isWord = event.ctrlKey || (event.altKey && IS_MAC);
    const across = { ArrowLeft: isRightToLeft ? 1 : -1, ArrowRight: isRightToLeft ? -1 : 1 };
    const from = head;
    if (event.key in across) go(ruler.move(head, across[event.key], isWord), event.shiftKey);
    else if (event.key === "Home" || event.key === "End") {
      go(event.key === "Home" ? 0 : ruler.text.length, event.shiftKey);
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      goLine(event.key === "ArrowUp" ? "backward" : "forward", event.shiftKey);
    } else if ((event.ctrlKey || event.metaKey) && event.code === "KeyA") {
      select(0, ruler.text.length);
    } else if (event.key === "Escape" && chosen) select(head, head);
    else {
      on.key(event, { unit: head, chosen });
      return;
    }
    event.preventDefault();
    on.read(ruler.text.slice(Math.min(from, head), Math.max(from, head)));
  }

  function go(unit, extends_) {
    select(extends_ ? anchor : unit, unit);
  }

  function goLine(direction, extends_) {
    const selection = getSelection();
    select(anchor, head);
    selection.modify(extends_ ? "extend" : "move", direction, "line");
    if (element.contains(selection.focusNode)) {
      const unit = unitOf(selection.focusNode, selection.focusOffset);
      go(ruler.snap(Math.max(0, unit - 1), unit)?.end ?? unit, extends_);
    } else go(direction === "forward" ? ruler.text.length : 0, extends_);
  }

  /** The box of the cluster at the caret tells its place, whatever the direction of the text. */
  function drawCaret() {
    const isAtEnd = head === ruler.text.length;
    const box = isAtEnd
      ? boxes(ruler.move(head, -1), head).at(-1)
      : boxes(head, ruler.move(head, 1))[0];
    if (!box) return;
    const frame = element.parentElement.getBoundingClientRect();
    const x = isAtEnd === isRightToLeft ? box.left : box.right;
    caret.style.left = `${x - frame.left - 1}px`;
    caret.style.top = `${box.top - frame.top}px`;
    caret.style.height = `${box.height}px`;
  }

  // --- Drawing --------------------------------------------------------------------------------
  /** Draw errors: {start, end, severity, isOpen, isOffered}. Where several overlap, the worst is seen. */
  function draw(spans) {
    const cuts = [...new Set([0, ruler.text.length, ...spans.flatMap((s) => [s.start, s.end])])];
    cuts.sort((one, other) => one - other);
    const pieces = cuts.slice(1).map((end, number) => {
      const over = spans.filter((span) => span.start < end && span.end > cuts[number]);
      return piece(ruler.text.slice(cuts[number], end), over);
    });
    const isHere = element.contains(getSelection().anchorNode);
    element.replaceChildren(...pieces);
    if (isHere) getSelection().setBaseAndExtent(...place(anchor), ...place(head));
  }

  function piece(text, over) {
    if (!over.length) return document.createTextNode(text);
    const mark = document.createElement("span");
    const worst = Math.max(...over.map((span) => BY_WEIGHT.indexOf(levelOf(span.severity))));
    mark.className = `mark mark-${BY_WEIGHT[worst]}`;
    mark.classList.toggle("mark-many", over.length > 1);
    mark.classList.toggle("mark-open", over.some((span) => span.isOpen));
    mark.classList.toggle("mark-offered", over.every((span) => span.isOffered));
    mark.textContent = text;
    return mark;
  }

  caret.className = "caret";
  caret.setAttribute("aria-hidden", "true");
  element.after(caret);
  element.tabIndex = 0;
  element.setAttribute("role", "textbox");
  element.setAttribute("aria-readonly", "true");
  element.setAttribute("aria-multiline", "true");
  element.addEventListener("pointerdown", (event) => {
    tapped = chosen;
    pointer = event.pointerType;
    isDown = true;
  });
  element.addEventListener("dblclick", onDoubleClick);
  element.addEventListener("click", onClick);
  element.addEventListener("keydown", onKeyDown);
  element.addEventListener("focus", drawCaret);
  const watch = new AbortController();
  document.addEventListener("selectionchange", () => {
    if (element.isConnected) onSelectionChange();
    else watch.abort();
  }, { signal: watch.signal });
  document.addEventListener("pointerup", onPointerUp, { signal: watch.signal });

  return {
    ruler,
    draw,
    select,
    drop: () => (chosen = null),
    focus: () => element.focus({ preventScroll: true }),
  };
}
