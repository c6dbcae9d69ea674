// "Explore" under a figure: loads Vega on request and draws the same specification, with the
// pointer's values. Its expressions are interpreted (`ast`), and it brings no styles of its own, so
// the content security policy holds; static/css/figure.css styles the tooltip.

const OPTIONS = {
  mode: "vega-lite",
  renderer: "svg",
  actions: false,
  ast: true,
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true },
};
const loaded = new Map();

function load(address) {
  if (!loaded.has(address)) {
    const script = document.createElement("script");
    script.src = address;
    const arrival = new Promise((resolve, reject) => {
      script.addEventListener("load", resolve);
      script.addEventListener("error", () => reject(new Error(address)));
    });
    // A failure is not kept: the next press tries again.
    loaded.set(address, arrival.catch((error) => {
      loaded.delete(address);
      throw error;
    }));
    document.head.append(script);
  }
  return loaded.get(address);
}

async function explore(button) {
  for (const address of button.dataset.scripts.split(" ")) await load(address);
  const answer = await fetch(button.dataset.explore);
  if (!answer.ok) throw new Error(String(answer.status));
  const place = document.createElement("div");
  await globalThis.vegaEmbed(place, await answer.json(), OPTIONS);
  button.closest("figure").querySelector(".drawing").replaceChildren(place);
}

async function press(button) {
  button.disabled = true;
  try {
    await explore(button);
    button.remove();
  } catch {
    button.disabled = false;
    button.textContent = "Explore: loading failed, try again";
  }
}

function adoptAll() {
  for (const button of document.querySelectorAll("button[data-explore]")) button.hidden = false;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-explore]");
  if (button) press(button);
});
document.addEventListener("document-swapped", adoptAll);
adoptAll();
