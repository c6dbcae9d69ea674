// A heat map is a table: arrow keys move between its cells, and a line above says what the cell
// under focus or pointer stands for. The numbers come with the page (#pair-details), row by row
// without the diagonal.

const MOVES = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

function show(number) {
  return number === null ? "–" : number.toFixed(3).replace("-", "−");
}

function showP(number) {
  if (number === null) return "undefined";
  return number < 0.001 ? "< .001" : number.toFixed(3).replace(/^0/, "");
}

function adopt(table) {
  const details = JSON.parse(document.querySelector("#pair-details").textContent);
  const line = document.querySelector("#pair");
  const names = [...table.tBodies[0].rows].map((row) => row.cells[0].textContent);
  const first = table.rows[0].cells.length - names.length;
  const grid = [...table.tBodies[0].rows].map((row) => [...row.cells].slice(first));

  function tell(row, column) {
    if (row === column) return;
    const index = row * (names.length - 1) + column - (column > row ? 1 : 0);
    const [difference, low, high, p, corrected] = details[index];
    const interval = low === null ? "" : `, 95 % interval ${show(low)} to ${show(high)}`;
    const after = corrected === null ? "" : `, corrected ${showP(corrected)}`;
    line.textContent = `${names[row]} against ${names[column]}: Δ ${show(difference)}${interval}, p ${showP(p)}${after}.`;
  }

  function placeOf(cell) {
    const row = grid.findIndex((cells) => cells.includes(cell));
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
      if (place) tell(...place);
    });
  }
  for (const cell of grid.flat()) cell.tabIndex = -1;
  if (grid.length > 1) grid[0][1].tabIndex = 0;
}

function adoptAll() {
  for (const table of document.querySelectorAll("table[data-heatmap]")) adopt(table);
}

document.addEventListener("document-swapped", adoptAll);
adoptAll();
