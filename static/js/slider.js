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

  /** A mark at each score with words, which stand there if they fit. */
  function drawMarks() {
    const place = (at) => (100 * (at - low)) / (high - low);
    // Of many words there is a list below; a mark at every value of a short scale has its number.
    const isFull = anchors.length > 4 && anchors.at(-1)[0] === high;
    const own = anchors.map(([at, words]) => [place(at), isFull ? "" : words, at]);
    const usual = isPercent ? [25, 50, 75] : (high - low) / step < 11 ? values() : [];
    const rest = own.length && isPercent ? [] : usual.filter((at) => !anchors.some(([low]) => low === at));
    const places = [...own, ...rest.map((at) => [place(at), "", at])].sort(([one], [other]) => one - other);
    answer.querySelector(".marks").replaceChildren(...places.map(([at, words, score], number) => {
      const mark = document.createElement("i");
      mark.style.insetInlineStart = `${at}%`;
      const next = places[number + 1]?.[0] ?? 100;
      // Words at the end of the scale reach back to those before them, and share their room.
      const shared = 100 - (places.at(-2)?.[0] ?? 0);
      const room = next === at ? shared * 0.36 : (next - at) * (next === 100 ? 0.62 : 1);
      mark.style.maxWidth = `${room}%`;
      mark.classList.toggle("first", at === 0);
      mark.classList.toggle("last", at === 100);
      mark.dataset.low = score;
      mark.textContent = words;
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
