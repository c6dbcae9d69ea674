// Figures that are drawn late, and "Explore" under a figure: loads Vega on request and draws the same
// specification, with the pointer's values. Its expressions are interpreted (`ast`), and it brings no
// styles of its own, so the content security policy holds; static/css/figure.css styles the tooltip.

// Text of a tooltip as markup; numbers are without the zero before the point.
function sanitize(value) {
  const text = String(value).replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return text.replace(/^([−-]?)0(\.\d+)$/, "$1$2");
}

const OPTIONS = {
  mode: "vega-lite",
  renderer: "svg",
  actions: false,
  ast: true,
  defaultStyle: false,
  tooltip: { disableDefaultStyle: true, sanitize },
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

// As narrow as the image in its place.
function specification(address) {
  const url = new URL(address, location.href);
  if (matchMedia("screen and (max-width: 44rem)").matches) url.searchParams.set("phone", "1");
  return url;
}

async function explore(button) {
  for (const address of button.dataset.scripts.split(" ")) await load(address);
  const answer = await fetch(specification(button.dataset.explore));
  if (!answer.ok) throw new Error(String(answer.status));
  const place = document.createElement("div");
  await globalThis.vegaEmbed(place, await answer.json(), OPTIONS);
  const drawing = button.closest("figure").querySelector(".drawing");
  drawing.replaceChildren(place);
  // Focus goes along: nothing is swapped for newer numbers while somebody is in there.
  drawing.focus({ preventScroll: true });
}

async function press(button) {
  button.disabled = true;
  try {
    await explore(button);
    button.remove();
  } catch {
    button.disabled = false;
    button.textContent = button.dataset.failed;
  }
}

// What has not been drawn yet is drawn by the server while nothing else waits for it.
function draw(place) {
  const isPhone = matchMedia("screen and (max-width: 44rem)").matches;
  const image = new Image();
  image.alt = place.dataset.alt;
  image.addEventListener("load", () => {
    // As tall as it is drawn: the room for one that is not drawn yet goes.
    image.width = image.naturalWidth;
    image.height = image.naturalHeight;
    place.replaceWith(image);
  });
  // Without a drawing its description stands there.
  image.addEventListener("error", () => place.replaceChildren(image));
  image.src = isPhone ? place.dataset.phone : place.dataset.image;
}

function drawAll() {
  for (const place of document.querySelectorAll(".undrawn[data-image]")) draw(place);
}

function adoptAll() {
  for (const button of document.querySelectorAll("button[data-explore]")) button.hidden = false;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-explore]");
  if (button) press(button);
});
document.addEventListener("document-swapped", adoptAll);
document.addEventListener("document-swapped", drawAll);
adoptAll();
if (document.readyState === "complete") drawAll();
else addEventListener("load", drawAll);
