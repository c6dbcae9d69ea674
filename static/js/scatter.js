// The scatter plot: draws the page's points (or their counts), goes from one to the next by keys,
// and puts the chosen output's texts and judgments beside it. The server sends all of it.

import { bare, fill } from "./texts.js";

const SVG = "http://www.w3.org/2000/svg";
const [LEFT, BOTTOM, TOP, RIGHT] = [64, 48, 12, 16];
// The shapes of static/css/scatter.css, in units that are about pixels: type stays as large as it is.
const [WIDE, NARROW] = [[560, 440], [340, 320]];
let [WIDTH, HEIGHT] = WIDE;
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
  return found.map((value) => [value, value ? bare(value, places) : "0"]);
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

// `labels` are the plot's data attributes.
function describe(mark, labels) {
  const place = `${labels.x} ${bare(mark.x)}, ${labels.y} ${bare(mark.y)}`;
  const text = mark.n ? labels.bin : mark.segment ? labels.output : labels.system;
  return fill(text, { ...mark, place });
}

function draw(plot, marks, labels, selected) {
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
    if (selected && !selected(mark)) mark.shape.classList.add("is-out");
    mark.shape.append(element("title", {}, describe(mark, labels)));
    svg.append(mark.shape);
  }
  plot.replaceChildren(svg);
  return { svg, x, y };
}

// Which marks the region of the address holds: the server's word for points, its bounds for bins.
function selection(plot, data, marks) {
  if (data.points.length) {
    if (data.n_selected === data.n) return null;
    const places = new Set(data.selected);
    const chosen = new Set(marks.filter((_, index) => places.has(index)));
    return (mark) => chosen.has(mark);
  }
  const [left, right, low, high] = plot.dataset.region.split(",").map((text) => (text === "" ? null : Number(text)));
  const between = (value, from, to) => (from === null || value >= from) && (to === null || value <= to);
  return (mark) => between(mark.x, left, right) && between(mark.y, low, high);
}

// The value at a place of the drawing, the inverse of its scale.
function valueAt(scale, from, to, place) {
  return scale.low + ((place - from) / (to - from)) * (scale.high - scale.low);
}

function regionAddress(plot, { x, y }, start, end) {
  const url = new URL(plot.dataset.without, location.href);
  const sides = [
    ["x", [start[0], end[0]].map((at) => valueAt(x, LEFT, WIDTH - RIGHT, at))],
    ["y", [start[1], end[1]].map((at) => valueAt(y, HEIGHT - BOTTOM, TOP, at))],
  ];
  for (const [name, values] of sides) {
    url.searchParams.set(`${name}_from`, Math.min(...values).toPrecision(5));
    url.searchParams.set(`${name}_to`, Math.max(...values).toPrecision(5));
  }
  return url;
}

// Dragging over the plot chooses a region: by mouse at once, by touch after the button was pressed,
// so that the page can still be scrolled. The address says the region; the page comes back with it.
function brush(plot, drawn) {
  const { svg } = drawn;
  const button = document.querySelector("#brush");
  let start = null;
  let box = null;
  const place = (event) => {
    const area = svg.getBoundingClientRect();
    return [((event.clientX - area.left) / area.width) * WIDTH, ((event.clientY - area.top) / area.height) * HEIGHT];
  };
  if (matchMedia("(pointer: coarse)").matches) button.hidden = false;
  button.addEventListener("click", () => {
    const isOn = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(isOn));
    plot.classList.toggle("is-brushing", isOn);
  });
  svg.addEventListener("pointerdown", (event) => {
    if (event.button || (event.pointerType === "touch" && !plot.classList.contains("is-brushing"))) return;
    start = place(event);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!start) return;
    const end = place(event);
    if (!box && Math.hypot(end[0] - start[0], end[1] - start[1]) < 8) return;
    if (!box) {
      box = element("rect", { class: "region" });
      svg.append(box);
      svg.setPointerCapture(event.pointerId);
    }
    const [left, top] = [Math.min(start[0], end[0]), Math.min(start[1], end[1])];
    const sizes = { x: left, y: top, width: Math.abs(end[0] - start[0]), height: Math.abs(end[1] - start[1]) };
    for (const [key, value] of Object.entries(sizes)) box.setAttribute(key, value);
  });
  const finish = (event) => {
    if (start && box && event.type === "pointerup") {
      const url = regionAddress(plot, drawn, start, place(event));
      sessionStorage.setItem("rail", JSON.stringify({ path: url.pathname, open: [], isUnfolded: false, y: scrollY, name: "", value: null }));
      location.assign(url);
    }
    start = null;
    box?.remove();
    box = null;
  };
  svg.addEventListener("pointerup", finish);
  svg.addEventListener("pointercancel", finish);
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
  const data = await answer.json();
  const marks = marksOf(data);
  if (!marks.length) return;
  const labels = plot.dataset;
  [WIDTH, HEIGHT] = matchMedia("(max-width: 44rem)").matches ? NARROW : WIDE;
  const drawn = draw(plot, marks, labels, selection(plot, data, marks));
  brush(plot, drawn);
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
