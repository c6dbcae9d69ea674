// What a design takes and can tell, as the numbers of the campaign form change. The same sums as
// annotation/campaigns/effort.py, which also says where times and spreads are from.

const form = document.querySelector("form[data-campaign-form]");
const place = document.querySelector("[data-cost]");
const known = JSON.parse(document.getElementById("cost-data").textContent);
const CONTROLS = ["traps", "bad_references", "repeats", "references"];
const HOUR = 3600;

const number = (name) => Math.max(0, Math.floor(Number(form.elements[name]?.value)) || 0);
const { lang } = document.documentElement;
const told = new Intl.NumberFormat(lang, { maximumSignificantDigits: 2 });
const whole = new Intl.NumberFormat(lang);
const plural = new Intl.PluralRules(lang);

function quantile([z, ...terms], freedom) {
  return terms.reduce((sum, term, power) => sum + term / freedom ** (power + 1), z);
}

/** A number, or a range, with its unit in the form that the language of the page asks for. */
function count(name, low, high = low, format = told) {
  const [from, to] = [format.format(low), format.format(high)];
  const rounded = Number(high.toPrecision(2));
  const form = from === to ? plural.select(format === told ? rounded : high) : plural.selectRange(low, high);
  const [one, other] = known.units[name];
  return (form === "one" ? one : other).replace("{n}", from === to ? from : `${from}–${to}`);
}

function time(low, high) {
  return high < HOUR ? count("minutes", low / 60, high / 60) : count("hours", low / HOUR, high / HOUR);
}

function leastDifference({ output, residual }, segments, raters) {
  if (segments < 5 || raters < 1) return null;
  const sd = Math.sqrt(2 * output + (2 * residual) / raters);
  const t = known.quantiles.reduce((sum, each) => sum + quantile(each, segments - 1), 0);
  return (t * sd) / Math.sqrt(segments);
}

function put(name, text) {
  for (const part of place.querySelectorAll(`[data-put="${name}"]`)) part.textContent = text;
}

function when(name, isSo) {
  for (const part of place.querySelectorAll(`[data-if="${name}"]`)) part.hidden = !isSo;
}

function follow() {
  const data = new FormData(form);
  const counts = known.outputs[form.elements.length_ratio.value] ?? {};
  const systems = data.getAll("systems").filter((name) => name in counts);
  const raters = number("annotators_per_item");
  const outputs = systems.reduce((sum, name) => sum + counts[name], 0);
  const controls = CONTROLS.reduce((sum, name) => sum + number(`${name}_per_annotator`), 0);
  const judgments = raters * (outputs + controls);
  const { pace, spread } = known.protocols[data.get("protocol")] ?? {};
  when("pace", Boolean(pace) && judgments > 0);
  when("no-pace", !pace);
  put("judgments", count("judgments", judgments, judgments, whole));
  put("raters", count("annotators", raters, raters, whole));
  put("total", pace && judgments ? known.total.replace("{time}", time(judgments * pace.low, judgments * pace.high)) : "");
  const rate = Number(data.get("hourly_rate"));
  when("pay", rate > 0);
  if (pace) {
    put("each", time((judgments * pace.low) / raters, (judgments * pace.high) / raters));
    put("seconds", count("seconds", pace.low, pace.high));
    put("source", pace.source);
    const [least, most] = [pace.low, pace.high].map((each) => told.format((judgments * each * rate) / HOUR));
    put("pay", `${least === most ? least : `${least}–${most}`} ${data.get("currency")}`);
  }
  const shared = systems.length ? Math.min(...systems.map((name) => counts[name])) : 0;
  const least = spread && leastDifference(spread, shared, raters);
  when("difference", systems.length > 1 && Boolean(least));
  when("no-difference", systems.length > 1 && Boolean(spread) && !least);
  when("no-spread", systems.length > 1 && !spread);
  when("spread", Boolean(spread));
  when("one", systems.length < 2);
  if (least) put("difference", told.format(least));
  if (spread) {
    put("unit", spread.unit);
    put("spread", spread.source);
  }
  put("segments", count("segments", shared, shared, whole));
}

form.addEventListener("input", follow);
form.addEventListener("change", follow);
follow();
