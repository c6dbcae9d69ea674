// A heat map of pairs of metrics, as a table or, for many metrics, as a picture: arrow keys and the
// pointer go from cell to cell, and a line above says what the cell stands for. The numbers of a
// row come from the page's data when somebody first points at it, the words of the line from the page.

import { bare, fill } from "./texts.js";

const MOVES = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};
const COLOURS = ["#08306b", "#2a6fb0", "#7fb3d9", "#bcd4e8", "#f5f7f9"];
const BOUNDS = ["p < .001", "p < .01", "p < .05", "p < .1", "p ≥ .1"];
// A pointer that crosses a row does not ask for its numbers.
const PAUSE_MS = 150;
const LEAST_PX = 6;
const WIDEST_PX = 800;

function show(number) {
  return number === null ? "–" : bare(number);
}

function showP(number) {
  if (number === null) return "p –";
  return number < 0.001 ? BOUNDS[0] : `p = ${bare(number)}`;
}

// What is known of a pair, one sentence each: `words` are the line's data attributes.
function sentences(words, row) {
  const { label: first, other_label: second, low, high, adjusted } = row;
  const said = [fill(words.pair, { first, second, difference: show(row.difference), p: showP(row.pvalue) })];
  if (low !== null) said.push(fill(words.interval, { low: show(low), high: show(high) }));
  if (adjusted !== null) said.push(fill(words.corrected, { p: showP(adjusted) }));
  return said.join(" ");
}

// Returns what says a pair of keys: at once where its row is known, else after a pause.
function teller(address) {
  const line = document.querySelector("#pair");
  const known = new Map();
  let wanted = null;
  let timer = 0;

  async function read(key) {
    const url = new URL(address, location.href);
    url.searchParams.set("row", key);
    const answer = await fetch(url);
    if (!answer.ok) throw new Error(String(answer.status));
    const { rows } = await answer.json();
    return new Map(rows.map((row) => [row.other, row]));
  }

  async function ask(pair) {
    const [key, other] = pair;
    if (!known.has(key)) known.set(key, read(key));
    try {
      const rows = await known.get(key);
      if (wanted === pair) line.textContent = sentences(line.dataset, rows.get(other));
    } catch {
      // Not kept: the next look asks again.
      known.delete(key);
    }
  }

  return function tell(key, other, soFar) {
    clearTimeout(timer);
    wanted = [key, other];
    if (soFar) line.textContent = soFar;
    timer = setTimeout(ask, known.has(key) ? 0 : PAUSE_MS, wanted);
  };
}

function adoptTable(table) {
  const tell = teller(table.dataset.heatmap);
  const rows = [...table.tBodies[0].rows];
  // Half a square: the cells of a row are its pairs with the metrics below it.
  const grid = rows.map((row, place) => {
    const cells = [...row.cells].filter((cell) => cell.tagName === "TD" && !cell.matches(".num, .same"));
    return [...Array(place + 1), ...cells];
  });

  function placeOf(cell) {
    const row = cell ? grid.findIndex((cells) => cells.includes(cell)) : -1;
    return row < 0 ? null : [row, grid[row].indexOf(cell)];
  }

  function move(row, column) {
    for (const cell of table.querySelectorAll("td[tabindex='0']")) cell.tabIndex = -1;
    grid[row][column].tabIndex = 0;
    grid[row][column].focus();
  }

  table.addEventListener("keydown", (event) => {
    const place = placeOf(event.target);
    const step = MOVES[event.key];
    if (!place || !step || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    const [row, column] = [place[0] + step[0], place[1] + step[1]];
    if (grid[row]?.[column]) move(row, column);
  });
  for (const kind of ["focusin", "pointerover"]) {
    table.addEventListener(kind, (event) => {
      const place = placeOf(event.target.closest("td"));
      if (place) tell(...place.map((at) => rows[at].dataset.key));
    });
  }
  for (const cell of grid.flat()) if (cell) cell.tabIndex = -1;
  if (grid.length > 1) grid[0][1].tabIndex = 0;
}

function draw(canvas, steps, size) {
  const scale = globalThis.devicePixelRatio || 1;
  canvas.width = canvas.height = Math.round(steps.length * size * scale);
  canvas.style.width = canvas.style.height = `${steps.length * size}px`;
  const ink = canvas.getContext("2d");
  ink.scale(scale, scale);
  steps.forEach((line, row) => {
    [...line].forEach((letter, column) => {
      const place = [column * size, row * size, size, size];
      const step = "01234".includes(letter) ? Number(letter) : "abcde".indexOf(letter);
      ink.fillStyle = step < 0 ? "#ffffff" : COLOURS[step];
      ink.fillRect(...place);
      if (letter < "a") return;
      // As in the table: an outline that shows on dark cells too.
      ink.strokeStyle = "#000000";
      ink.strokeRect(place[0] + 0.5, place[1] + 0.5, size - 1, size - 1);
    });
  });
}

function adoptPicture(canvas) {
  const tell = teller(canvas.dataset.heatmap);
  const metrics = [...document.querySelectorAll("#one-metric option")];
  const steps = canvas.dataset.steps.split(" ");
  const room = Math.min(canvas.parentElement.clientWidth, WIDEST_PX);
  const size = Math.max(LEAST_PX, Math.floor(room / steps.length));
  let at = null;

  function go(row, column) {
    at = [row, column];
    draw(canvas, steps, size);
    const ink = canvas.getContext("2d");
    ink.strokeStyle = "#c2410c";
    ink.lineWidth = 2;
    ink.strokeRect(column * size, row * size, size, size);
    if (row === column) return;
    const [mine, other] = [metrics[row], metrics[column]];
    const letter = steps[row][column];
    const step = "01234".includes(letter) ? Number(letter) : "abcde".indexOf(letter);
    const { step: text } = document.querySelector("#pair").dataset;
    tell(mine.value, other.value, fill(text, { first: mine.label, second: other.label, p: BOUNDS[step] ?? showP(null) }));
  }

  function open() {
    const url = new URL(location.href);
    url.searchParams.set("row", metrics[at[0]].value);
    location.assign(url);
  }

  function placeOf(event) {
    const box = canvas.getBoundingClientRect();
    const place = [event.clientY - box.top, event.clientX - box.left];
    return place.map((far) => Math.min(steps.length - 1, Math.max(0, Math.floor(far / size))));
  }

  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const step = MOVES[event.key];
    if (step) {
      event.preventDefault();
      const moved = at ? at.map((here, index) => here + step[index]) : [0, 1];
      if (moved.every((here) => here >= 0 && here < steps.length)) go(...moved);
    } else if (event.key === "Enter" && at) {
      open();
    }
  });
  canvas.addEventListener("focus", () => go(...(at ?? [0, 1])));
  canvas.addEventListener("pointermove", (event) => {
    const place = placeOf(event);
    if (String(place) !== String(at)) go(...place);
  });
  canvas.addEventListener("click", (event) => {
    go(...placeOf(event));
    open();
  });
  draw(canvas, steps, size);
}

function adoptAll() {
  for (const table of document.querySelectorAll("table[data-heatmap]")) adoptTable(table);
  for (const canvas of document.querySelectorAll("canvas[data-heatmap]")) adoptPicture(canvas);
}

document.addEventListener("document-swapped", adoptAll);
adoptAll();
