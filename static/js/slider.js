// A score: a native range input that knows a state without any value.

/** Put the slider of an `.answer` in the place of its number field and return its handle. */
export function makeSlider(answer, onChange) {
  const field = answer.querySelector(".score");
  const range = answer.querySelector(".slider");
  const box = answer.querySelector(".by-slider");
  const output = answer.querySelector("output");
  const initial = field.defaultValue;
  const anchors = JSON.parse(output.dataset.anchors || "[]");
  let value = null;

  function set(next) {
    value = next === null ? null : Math.min(100, Math.max(0, Math.round(next)));
    // Unset rests in the middle, so that the first arrow key goes either way.
    range.value = value ?? 50;
    field.value = value ?? "";
    const text = value === null ? output.dataset.unset : `${value}%${meaning(value)}`;
    output.textContent = text;
    range.setAttribute("aria-valuetext", text);
    // The thumb's centre never reaches the ends of the track.
    range.style.setProperty("--fill", `calc(.875rem + (100% - 1.75rem) * ${(value ?? 0) / 100})`);
    box.classList.toggle("is-unset", value === null);
    if (value !== null) range.removeAttribute("aria-invalid");
    onChange();
  }

  /** What the score means, where the scale says so. */
  function meaning(score) {
    const anchor = anchors.findLast(([low]) => low <= score);
    return anchor ? ` · ${anchor[1]}` : "";
  }

  /** Take a score as a field has it: anything else is none. */
  function restore(text) {
    set(/^(\d\d?|100)$/.test(text) ? Number(text) : null);
  }

  // The hidden field carries the score; the range has no name, for it always has a value.
  field.type = "hidden";
  field.closest(".by-number")?.toggleAttribute("hidden", true);
  box.hidden = false;
  range.addEventListener("input", () => set(range.valueAsNumber));
  // A press on the resting place changes nothing, so no input event follows it.
  range.addEventListener("pointerup", () => set(range.valueAsNumber));
  restore(initial);

  return {
    get value() {
      return value;
    },
    name: field.name,
    range,
    set,
    restore,
    reset: () => restore(initial),
    focus: () => range.focus({ preventScroll: true }),
    refuse() {
      range.setAttribute("aria-invalid", "true");
      range.focus();
    },
  };
}
