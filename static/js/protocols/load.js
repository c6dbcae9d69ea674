// What makes an item work: by the grid that its screen is, and errors only where some are marked.

const LAYOUTS = {
  "single": () => import("./single.js"),
  "document": () => import("./document.js"),
  "together": () => import("./together.js"),
  "grid": () => import("./grid.js"),
};

/** Fetch the modules of an item: {build(item, {words, say})}, which returns its sheet. */
export async function load(item) {
  const [layout, marking] = await Promise.all([
    LAYOUTS[item.dataset.layout](),
    item.querySelector("[data-marking]") && import("./marking.js"),
  ]);
  return { build: (element, on) => layout.build(element, { ...on, marking }) };
}
