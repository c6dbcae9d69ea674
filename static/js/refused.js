// Answers that the server refused: a line for each, and one decision for all where there are several.

/**
 * `bar` is the outbox. `discard(entry)` gives an answer up; `replace(key, answer)` sends one in its
 * place. Returns what shows the refused answers.
 */
export function makeRefused(bar, discard, replace) {
  const words = bar.dataset;
  const list = bar.querySelector("[data-refused]");
  const all = bar.querySelector("[data-all]");
  const [saveAll, discardAll] = all.querySelectorAll("button");
  let shown = [];

  saveAll.addEventListener("click", () => shown.forEach(again));
  sure(discardAll, () => shown.forEach(discard));

  /** The refusal may have brought what the form needs to be sent over what is stored. */
  function again({ form = {}, ...entry }) {
    const name = Object.keys(form).find((each) => each.endsWith("submit_key"));
    replace(entry.key, { ...entry, key: form[name] ?? entry.key, fields: { ...entry.fields, ...form } });
  }

  /** The second press counts. */
  function sure(button, act) {
    const asked = button.textContent;
    button.addEventListener("click", () => {
      const isSure = button.textContent === words.sure;
      button.textContent = isSure ? asked : words.sure;
      if (isSure) act();
    });
  }

  function line(entry) {
    const link = document.createElement("a");
    link.href = entry.path;
    link.textContent = entry.title || words.open;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet";
    button.textContent = words.discard;
    sure(button, () => discard(entry));
    const item = document.createElement("li");
    item.dataset.says = entry.key + entry.problem;
    item.append(link, `: ${entry.problem} `, button);
    return item;
  }

  /** A line that says the same stays: it may have the focus, or ask whether one is sure. */
  return (refused) => {
    shown = refused;
    const before = [...list.children];
    const items = refused.map((entry) =>
      before.find(({ dataset }) => dataset.says === entry.key + entry.problem) ?? line(entry));
    for (const item of before) if (!items.includes(item)) item.remove();
    list.append(...items.filter((item) => !item.isConnected));
    all.hidden = refused.length < 2;
    all.querySelector("span").textContent = words.several.replace("{count}", refused.length);
  };
}
