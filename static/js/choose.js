// Shows the metrics that fit while somebody writes; what is ticked stays so, shown or not.

const form = document.querySelector("#find-metrics");
const told = form?.querySelector("output");
const families = [...document.querySelectorAll("fieldset:has(> details > .metrics)")].map((own) => ({
  own,
  fold: own.querySelector("details"),
  wasOpen: own.querySelector("details").open,
  name: own.querySelector("legend").textContent,
  lines: [...own.querySelectorAll(".metrics > li")],
}));

function find(words) {
  let found = 0;
  for (const { own, fold, wasOpen, name, lines } of families) {
    let here = 0;
    for (const line of lines) {
      const box = line.querySelector("input");
      const text = `${name} ${box.value} ${line.textContent}`.toLowerCase();
      line.hidden = !words.every((word) => text.includes(word));
      here += !line.hidden;
    }
    own.hidden = !here;
    fold.open = words.length ? here > 0 : wasOpen || Boolean(fold.querySelector(":checked"));
    found += here;
  }
  const elsewhere = document.querySelector("#elsewhere");
  if (elsewhere && words.length) elsewhere.open = Boolean(elsewhere.querySelector("fieldset:not([hidden])"));
  told.textContent = found ? "" : told.dataset.none;
}

if (form) {
  const field = form.querySelector("[type=search]");
  field.addEventListener("input", () => find(field.value.toLowerCase().split(/\s+/).filter(Boolean)));
  // Enter must not load the page anew: the server knows nothing of what is ticked. The search that
  // the address holds was made by the server, which sent nothing else.
  form.addEventListener("submit", (event) => {
    if (!new URLSearchParams(location.search).has("q")) event.preventDefault();
  });
}
