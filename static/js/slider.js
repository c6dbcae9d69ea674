// The score of a card: a native range input that knows a state without any value.

/** Put the slider of `card` in the place of its number field and return its handle. */
export function makeSlider(card) {
  const field = card.querySelector("#score");
  const range = card.querySelector("#slider");
  const box = card.querySelector(".by-slider");
  const output = card.querySelector("#value");
  const initial = field.defaultValue;
  let value = null;

  function set(next) {
    value = next === null ? null : Math.min(100, Math.max(0, Math.round(next)));
    // Unset rests in the middle, so that the first arrow key goes either way.
    range.value = value ?? 50;
    field.value = value ?? "";
    const text = value === null ? output.dataset.unset : `${value}%`;
    output.textContent = text;
    range.setAttribute("aria-valuetext", text);
    // The thumb's centre never reaches the ends of the track.
    range.style.setProperty("--fill", `calc(.875rem + (100% - 1.75rem) * ${(value ?? 0) / 100})`);
    box.classList.toggle("is-unset", value === null);
    if (value !== null) range.removeAttribute("aria-invalid");
  }

  function reset() {
    set(/^(\d\d?|100)$/.test(initial) ? Number(initial) : null);
  }

  // The hidden field carries the score; the range has no name, for it always has a value.
  field.type = "hidden";
  field.closest(".by-number").hidden = true;
  box.hidden = false;
  range.addEventListener("input", () => set(range.valueAsNumber));
  // A press on the resting place changes nothing, so no input event follows it.
  range.addEventListener("pointerup", () => set(range.valueAsNumber));
  reset();

  return {
    get value() {
      return value;
    },
    set,
    reset,
    focus: () => range.focus({ preventScroll: true }),
    refuse() {
      range.setAttribute("aria-invalid", "true");
      range.focus();
    },
  };
}
