// A score: a native range input that knows a state without any value.

/** Put the slider of an `.answer` in the place of its number field and return its handle. */
export function makeSlider(answer, onChange) {
  const field = answer.querySelector(".score");
  const range = answer.querySelector(".slider");
  const box = answer.querySelector(".by-slider");
  const output = answer.querySelector("output");
  const initial = field.defaultValue;
  const [low, high, step] = [range.min, range.max, range.step].map(Number);
  const isPercent = high === 100 && low === 0 && step === 1;
  const anchors = JSON.parse(output.dataset.anchors || "[]");
  let value = null;

  function set(next) {
    value = next === null ? null : Math.min(high, Math.max(low, low + Math.round((next - low) / step) * step));
    // Unset rests in the middle: arrows go either way.
    range.value = value ?? (low + high) / 2;
    field.value = value ?? "";
    const text = value === null ? output.dataset.unset : `${value}${isPercent ? "%" : ""}${meaning(value)}`;
    output.textContent = text;
    range.setAttribute("aria-valuetext", text);
    // The thumb never reaches the ends.
    range.style.setProperty("--fill", `calc(.875rem + (100% - 1.75rem) * ${((value ?? low) - low) / (high - low)})`);
    box.classList.toggle("is-unset", value === null);
    if (value !== null) range.removeAttribute("aria-invalid");
    onChange();
  }

  const values = () => Array.from({ length: (high - low) / step + 1 }, (_, n) => low + n * step);

  /** A mark with its number at each score that has words, or at the usual ones; ends have theirs. */
  function drawMarks() {
    const usual = isPercent ? [25, 50, 75] : (high - low) / step < 11 ? values() : [];
    const scores = anchors.length && isPercent ? anchors.map(([at]) => at) : usual;
    const inner = scores.filter((score) => score > low && score < high);
    answer.querySelector(".marks").replaceChildren(...inner.map((score) => {
      const mark = document.createElement("i");
      mark.style.insetInlineStart = `${(100 * (score - low)) / (high - low)}%`;
      mark.textContent = score;
      return mark;
    }));
  }

  /** What the score means, where the scale says so. */
  function meaning(score) {
    const anchor = anchors.findLast((each) => each[2] <= score);
    return anchor ? ` · ${anchor[1]}` : "";
  }

  /** Take a score as a field has it: anything else is none. */
  function restore(text) {
    const isOn = /^-?\d{1,4}$/.test(text) && text >= low && text <= high && (text - low) % step === 0;
    set(isOn ? Number(text) : null);
  }

  // The hidden field carries the score; the range has no name, for it always has a value.
  field.type = "hidden";
  field.closest(".by-number")?.toggleAttribute("hidden", true);
  box.hidden = false;
  drawMarks();
  range.addEventListener("input", () => set(range.valueAsNumber));
  // For pointers: by keyboard and for screen readers the slider says the same.
  for (const word of answer.querySelectorAll("[data-score]")) {
    word.addEventListener("click", () => {
      set(Number(word.dataset.score));
      range.focus({ preventScroll: true });
    });
  }
  // A press on the resting place changes nothing, so no input event follows it.
  range.addEventListener("pointerup", () => set(range.valueAsNumber));
  restore(initial);

  return {
    get value() {
      return value;
    },
    name: field.name,
    missing: answer.dataset.missing,
    /** Digits as they are typed, a minus before them; on the usual scale one alone counts tens. */
    type(digits) {
      if (digits === "-") return low < 0;
      const isShort = digits.length <= Math.max(range.max.length, range.min.length);
      if (!isShort || Number(digits) > high || (low < 0 && Number(digits) < low)) return false;
      set(Number(digits) * (isPercent && digits.length === 1 ? 10 : 1));
      return true;
    },
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
