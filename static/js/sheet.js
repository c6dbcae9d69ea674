// A sheet: one form with its texts, sliders and marked errors. It is submitted as one.

import { draftKey, flush, isOf, pathOf, putBack, unsentFor } from "./outbox.js";
import { makeSlider } from "./slider.js";
import { erase, read, write } from "./store.js";

const DOUBLE_MS = 600;
const own = (fields) =>
  Object.entries(fields).filter(([name]) => /(^|-)(score|choice|spans|comment|flag|text)$/.test(name));

/**
 * Make a sheet work. `words` are the page's sentences. A protocol gives `spans` (see spans.js)
 * and `onChange`, or changes what the sheet can do.
 */
export function makeSheet(root, words, { makeSpans, onChange } = {}) {
  const form = root.querySelector("form");
  const button = form.querySelector("[type=submit]");
  const problem = form.querySelector(".problem");
  const note = form.querySelector("[data-restored]");
  let isReady = false;

  function save() {
    write(draftKey(sheet.path), given());
  }

  function changed() {
    if (!isReady) return;
    save();
    // A way to sign in stays.
    if (!problem.firstElementChild) sheet.complain("");
    onChange?.(sheet);
  }

  const sliders = [...form.querySelectorAll(".answer")].map((each) => makeSlider(each, changed));
  const spans = makeSpans?.(root, changed) ?? null;

  /** What the person gave, by field name; what only the page needs is left out. */
  function given() {
    return Object.fromEntries(own(Object.fromEntries(new FormData(form))));
  }

  function restore(fields) {
    for (const slider of sliders) slider.restore(fields[slider.name] ?? "");
    for (const area of form.querySelectorAll("textarea")) area.value = fields[area.name] ?? "";
    for (const box of form.querySelectorAll("[type=checkbox]")) box.checked = box.name in fields;
    for (const radio of form.querySelectorAll("[type=radio][name$=choice]")) {
      radio.checked = fields[radio.name] === radio.value;
    }
    spans?.restore(fields);
    for (const details of form.querySelectorAll(".extras")) {
      details.open ||= [...details.querySelectorAll("textarea")].some((area) => area.value);
    }
    note.hidden = false;
  }

  /** Bring back what was refused, or entered and never submitted. */
  function remember() {
    const unsent = unsentFor(sheet.path, Object.keys(given()));
    const draft = read(draftKey(sheet.path));
    const before = unsent?.fields ?? (draft && isOf(draft, Object.keys(given())) ? draft : null);
    const now = JSON.stringify(given());
    if (before) restore(before);
    if (JSON.stringify(given()) === now && !unsent) note.hidden = true;
    if (unsent?.problem && !unsent.mayPass) sheet.complain(unsent.problem);
    // What is on its way keeps its key, whoever sends it.
    else if (unsent) sheet.renew(unsent.fields);
    // The item is there to be answered: whatever stood in the way has passed.
    if (!unsent?.mayPass) return;
    putBack(unsent);
    flush();
  }

  const sheet = {
    root,
    form,
    sliders,
    spans,
    isLocked: !button,
    get path() {
      return pathOf(form);
    },
    get key() {
      return form.querySelector("[name$=submit_key]")?.value;
    },
    get slider() {
      const cell = document.activeElement?.closest("[data-cell]");
      return sliders.find((each) => each.range === document.activeElement)
        ?? sliders.find((each) => cell?.contains(each.range))
        ?? sliders.find((each) => each.value === null) ?? sliders[0];
    },
    fields() {
      const { csrfmiddlewaretoken, ...fields } = Object.fromEntries(new FormData(form));
      return fields;
    },
    save,
    /** Whether the person's part of some fields is what is here now. */
    holds(fields) {
      const now = given();
      return own(fields).every(([name, value]) => now[name] === value)
        && own(fields).length === Object.keys(now).length;
    },
    /** Put hidden fields in place, such as a fresh key and start. */
    renew(fields) {
      for (const [name, value] of Object.entries(fields)) {
        const field = form.querySelector(`[name="${CSS.escape(name)}"]`);
        if (field) field.value = value;
      }
    },
    /** What keeps this, or a part of it, from being sent: {sentence, part, focus}, or null. */
    missing(isKey, scope = form) {
      const wrong = spans?.missing(scope);
      if (wrong) return wrong;
      const unset = sliders.find((each) => each.value === null && scope.contains(each.range));
      if (unset) {
        return { sentence: unset.missing ?? words.missing, part: unset.range, focus: unset.refuse };
      }
      const open = [...scope.querySelectorAll(".choice, textarea[required]")].find((each) =>
        (each.matches(".choice") ? !each.querySelector(":checked") : each.matches(":placeholder-shown")));
      const focus = () => (open.querySelector("input") ?? open).focus();
      return open ? { sentence: open.dataset.missing, part: open, focus } : null;
    },
    complain(sentence, ...more) {
      problem.replaceChildren(sentence, ...more);
    },
    focus() {
      const first = sliders.find((each) => each.value === null) ?? sliders[0];
      if (first) first.focus();
      else form.querySelector(".choice input, textarea[required]")?.focus({ preventScroll: true });
    },
    /** Whether more than sliders is asked, which the Tab key must not pass over. */
    asksMore: Boolean(form.querySelector(".choice, .post-edit")),
    reset() {
      for (const each of sliders) each.reset();
      for (const area of form.querySelectorAll("textarea[required]")) area.value = area.defaultValue;
      for (const radio of form.querySelectorAll("[type=radio][name$=choice]")) {
        radio.checked = radio.defaultChecked;
      }
      if (!spans) erase(draftKey(sheet.path));
      note.hidden = true;
      sheet.complain("");
      sheet.focus();
    },
    setSending(on) {
      sheet.isSending = on;
      button.dataset.label = on ? button.textContent : button.dataset.label;
      button.textContent = on ? words.sending : button.dataset.label;
      // Not `disabled`: that would take the focus away.
      button.setAttribute("aria-disabled", String(on));
    },
  };
  if (sheet.isLocked) return sheet;
  form.noValidate = true;
  // Sliders tell by themselves.
  form.addEventListener("input", (event) => event.target.matches(".slider") || changed());
  // The second half of a double click must not submit the screen that came in between. Taps at one
  // place can count on for longer.
  const soon = performance.now() + DOUBLE_MS;
  button.addEventListener("click", (event) =>
    event.detail > 1 && event.timeStamp < soon && event.preventDefault());
  remember();
  isReady = true;
  onChange?.(sheet);
  return sheet;
}
