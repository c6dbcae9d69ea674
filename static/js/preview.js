// A screen that an admin tries: sliders and marks work, and an answer is sent as a plain form.

import { load } from "./protocols/load.js";

/** Make the item that is drawn in `page` work. */
export async function build(page) {
  const item = page.querySelector("#item");
  const protocol = await load(item);
  if (!item.isConnected) return;
  protocol.build(item, { words: page.dataset, say: () => {} });
  item.classList.add("is-ready");
  for (const form of item.querySelectorAll("form")) form.noValidate = true;
}

const page = document.getElementById("annotate");
if (page.querySelector("#item")) await build(page);
