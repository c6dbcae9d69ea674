// Texts of the server with values filled in, and numbers as prose and figures show them.

/** Put values into a text: `{name}` becomes `values.name`. */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** A number without the zero before the point, `.610`, as `core/numbers.py` writes it. */
export function bare(number, places = 3) {
  const text = number.toFixed(places);
  const sign = number < 0 && Number(text) ? "−" : "";
  return sign + text.replace("-", "").replace(/^0\./, ".");
}
