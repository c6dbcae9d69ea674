// Tables marked data-sortable: a button in each heading with data-sort sorts by that column.
// Rows without a value stay last in either order.

import { fill } from "./texts.js";

const COLLATOR = new Intl.Collator(undefined, { numeric: true });

// Headings may stand in two rows, and on a phone anywhere: their spans say which column is whose.
function columnOf(heading) {
  const [first, second] = heading.closest("thead").rows;
  const below = second ? [...second.cells] : [];
  const leaves = [...first.cells].flatMap((th) =>
    second && th.rowSpan === 1 ? below.splice(0, th.colSpan) : [th],
  );
  return leaves.indexOf(heading);
}

// On a phone each heading of the second row stands alone, so it needs the words above it.
function groupOf(heading) {
  const [first, second] = heading.closest("thead").rows;
  if (heading.parentElement !== second) return "";
  let place = [...second.cells].indexOf(heading);
  const group = [...first.cells].find((th) => th.rowSpan === 1 && (place -= th.colSpan) < 0);
  return group ? group.textContent.trim() : "";
}

function valueOf(row, column, kind) {
  const cell = row.cells[column];
  if (kind === "text") return cell.textContent.trim();
  const number = Number.parseFloat(cell.dataset.value);
  return Number.isNaN(number) ? null : number;
}

function sort(heading) {
  const table = heading.closest("table");
  const kind = heading.dataset.sort;
  const column = columnOf(heading);
  const first = kind === "text" ? "ascending" : "descending";
  const other = first === "ascending" ? "descending" : "ascending";
  const order = heading.getAttribute("aria-sort") === first ? other : first;
  for (const th of table.tHead.querySelectorAll("[aria-sort]")) th.removeAttribute("aria-sort");
  heading.setAttribute("aria-sort", order);
  const sign = order === "ascending" ? 1 : -1;
  const rows = [...table.tBodies[0].rows].map((row) => [valueOf(row, column, kind), row]);
  rows.sort(([a], [b]) => {
    if (a === null || b === null) return (a === null) - (b === null);
    return sign * (kind === "text" ? COLLATOR.compare(a, b) : a - b);
  });
  table.tBodies[0].append(...rows.map(([, row]) => row));
}

function adopt(heading) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "sort";
  // A term and its definition (templatetags/glossary.py) stay beside the button.
  const terms = [...heading.querySelectorAll(".term, .definition")];
  button.append(...[...heading.childNodes].filter((node) => !terms.includes(node)));
  const link = button.querySelector("a");
  if (link) {
    // A heading that is a link keeps it; the button beside it carries the sign alone.
    heading.insertBefore(link, terms[0] ?? null);
    button.textContent = "";
    button.setAttribute("aria-label", fill(document.body.dataset.sort, { column: link.textContent.trim() }));
  }
  const group = groupOf(heading);
  if (group) button.dataset.group = group;
  heading.insertBefore(button, terms[0] ?? null);
  button.addEventListener("click", () => sort(heading));
}

function adoptAll() {
  const headings = document.querySelectorAll("table[data-sortable] th[data-sort]");
  for (const heading of headings) if (!heading.querySelector("button.sort")) adopt(heading);
}

adoptAll();
// Tables that arrive later.
document.addEventListener("htmx:afterSettle", adoptAll);
// … or that are swapped in (fresh.js).
document.addEventListener("document-swapped", adoptAll);
