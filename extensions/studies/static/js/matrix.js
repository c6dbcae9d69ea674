// One stop of the Tab key for a whole matrix: arrow keys go from cell to cell, Home and End along a row.

const STEPS = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0], Home: [0, -Infinity], End: [0, Infinity] };

function links(row) {
  return [...row.cells].map((cell) => cell.querySelector("a"));
}

function near(line, place, way) {
  for (let at = place; at >= 0 && at < line.length; at += way) if (line[at]) return line[at];
  return null;
}

function target(link, [down, right]) {
  const row = link.closest("tr");
  const place = link.closest("td").cellIndex;
  if (down) {
    const rows = [...row.parentElement.rows].slice(down > 0 ? row.sectionRowIndex + 1 : 0, down > 0 ? undefined : row.sectionRowIndex);
    if (down < 0) rows.reverse();
    return rows.map((each) => links(each)[place]).find(Boolean) ?? null;
  }
  const line = links(row);
  if (Number.isFinite(right)) return near(line, place + right, right);
  return right < 0 ? near(line, 0, 1) : near(line, line.length - 1, -1);
}

function hold(table, link) {
  for (const each of table.querySelectorAll("tbody a")) each.tabIndex = each === link ? 0 : -1;
}

function adopt(table) {
  const first = table.querySelector("tbody a");
  if (first) hold(table, first);
  table.addEventListener("keydown", (event) => {
    const link = event.target.closest("tbody a");
    const step = STEPS[event.key];
    const next = link && step && !event.altKey && !event.ctrlKey && !event.metaKey ? target(link, step) : null;
    if (!next) return;
    event.preventDefault();
    hold(table, next);
    next.focus();
  });
}

function adoptAll() {
  for (const table of document.querySelectorAll("table.matrix")) adopt(table);
}

document.addEventListener("document-swapped", adoptAll);
adoptAll();
