// The scatter plot: draws the page's points (or their counts), goes from one to the next by keys,
// and puts the chosen output's texts and judgments beside it. The server sends all of it.

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT] = [640, 440, 64, 48, 12, 16];
const TICKS = 5;

function element(name, attributes, text = "") {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

function scale(values, from, to) {
  let [low, high] = [Math.min(...values), Math.max(...values)];
  if (low === high) [low, high] = [low - 1, high + 1];
  const margin = (high - low) * 0.03;
  [low, high] = [low - margin, high + margin];
  const place = (value) => from + ((value - low) / (high - low)) * (to - from);
  return { place, low, high };
}

function ticks({ low, high }) {
  const rough = (high - low) / TICKS;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * unit).find((n) => n >= rough);
  const found = [];
  for (let n = Math.ceil(low / step); n * step <= high; n += 1) found.push(n * step);
  const places = Math.max(0, -Math.floor(Math.log10(step)));
  return found.map((value) => [value, value.toFixed(places).replace("-", "−")]);
}

function axes(svg, x, y, labels) {
  for (const [value, text] of ticks(x)) {
    const at = x.place(value);
    svg.append(element("line", { class: "grid", x1: at, x2: at, y1: TOP, y2: HEIGHT - BOTTOM }));
    svg.append(element("text", { x: at, y: HEIGHT - BOTTOM + 16, "text-anchor": "middle" }, text));
  }
  for (const [value, text] of ticks(y)) {
    const at = y.place(value);
    svg.append(element("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: at, y2: at }));
    svg.append(element("text", { x: LEFT - 6, y: at + 4, "text-anchor": "end" }, text));
  }
  const [middle, centre] = [(LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2];
  svg.append(element("text", { x: middle, y: HEIGHT - 8, "text-anchor": "middle" }, labels.x));
  const turned = { x: 14, y: centre, "text-anchor": "middle", transform: `rotate(-90 14 ${centre})` };
  svg.append(element("text", turned, labels.y));
}

// One shape of marks for points and for bins: where, what it opens, what is said of it.
function marksOf(data) {
  const points = data.points.map(([x, y, output, system, segment]) => ({ x, y, output, system, segment }));
  return points.concat(data.bins.map(([x, y, n, output]) => ({ x, y, n, output })));
}

function number(value) {
  return value.toFixed(3).replace("-", "−");
}

function describe(mark, labels) {
  const where = `${labels.x} ${number(mark.x)}, ${labels.y} ${number(mark.y)}`;
  if (mark.n) return `${mark.n} outputs near ${where}`;
  return mark.segment ? `${mark.system}, segment ${mark.segment}: ${where}` : `${mark.system}: ${where}`;
}

function draw(plot, marks, labels) {
  const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, "aria-hidden": "true", focusable: "false" });
  const x = scale(marks.map((mark) => mark.x), LEFT, WIDTH - RIGHT);
  const y = scale(marks.map((mark) => mark.y), HEIGHT - BOTTOM, TOP);
  axes(svg, x, y, labels);
  const most = Math.max(...marks.map((mark) => mark.n ?? 0));
  for (const mark of marks) {
    const [cx, cy] = [x.place(mark.x), y.place(mark.y)];
    // Counts in greys that print: the darker, the more; on a logarithmic scale.
    const grey = Math.round(205 - (165 * Math.log1p(mark.n ?? 0)) / Math.log1p(most || 1));
    mark.shape = mark.n
      ? element("rect", { class: "bin", x: cx - 7, y: cy - 5, width: 13, height: 9, fill: `rgb(${grey},${grey},${grey + 20})` })
      : element("circle", { class: "point", cx, cy, r: marks.length > 400 ? 3 : 5 });
    mark.shape.append(element("title", {}, describe(mark, labels)));
    svg.append(mark.shape);
  }
  plot.replaceChildren(svg);
}

async function show(address, output) {
  const answer = await fetch(address, { headers: { "X-Fragment": "output" } });
  if (!answer.ok) return;
  const place = document.querySelector("#output");
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  place.replaceChildren(...page.body.childNodes);
  const url = new URL(location.href);
  url.searchParams.set("output", output);
  history.replaceState(null, "", url);
  place.querySelector("h2")?.focus();
}

function open(plot, mark) {
  if (mark.output >= 0) {
    show(plot.dataset.outputAddress.replace("/0/", `/${mark.output}/`), mark.output);
    return;
  }
  const url = new URL(location.href);
  url.searchParams.set("system", mark.system);
  url.searchParams.set("level", "segment");
  location.assign(url);
}

function walk(plot, marks, labels) {
  const by = (axis) => marks.map((_, index) => index).sort((a, b) => marks[a][axis] - marks[b][axis]);
  const orders = { x: by("x"), y: by("y") };
  const steps = { ArrowRight: ["x", 1], ArrowLeft: ["x", -1], ArrowUp: ["y", 1], ArrowDown: ["y", -1] };
  let now = -1;
  const choose = (index) => {
    marks[now]?.shape.classList.remove("is-now");
    now = index;
    marks[now].shape.classList.add("is-now");
    document.querySelector("#plot-now").textContent = `${describe(marks[now], labels)}.`;
  };
  plot.addEventListener("keydown", (event) => {
    const step = steps[event.key];
    if (step) {
      const order = orders[step[0]];
      const next = now < 0 ? 0 : order.indexOf(now) + step[1];
      choose(order[Math.min(Math.max(next, 0), order.length - 1)]);
    } else if (event.key === "Enter" && now >= 0) open(plot, marks[now]);
    else return;
    event.preventDefault();
  });
  marks.forEach((mark, index) => {
    mark.shape.addEventListener("click", () => {
      choose(index);
      open(plot, mark);
    });
  });
}

async function begin() {
  const plot = document.querySelector("#plot");
  if (!plot) return;
  const answer = await fetch(plot.dataset.points);
  if (answer.status !== 200) return;
  const marks = marksOf(await answer.json());
  if (!marks.length) return;
  const labels = { x: plot.dataset.x, y: plot.dataset.y };
  draw(plot, marks, labels);
  walk(plot, marks, labels);
  plot.dataset.ready = "yes";
}

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[data-output]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  show(link.href, link.dataset.output);
});
document.addEventListener("document-swapped", begin);
begin();
