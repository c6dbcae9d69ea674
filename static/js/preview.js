// A screen that an admin tries: sliders and marks work, and an answer is sent as a plain form.

import { load } from "./protocols/load.js";

const page = document.getElementById("annotate");
const item = document.getElementById("item");
const protocol = await load(item);
protocol.build(item, { words: page.dataset, say: () => {} });
item.classList.add("is-ready");
for (const form of item.querySelectorAll("form")) form.noValidate = true;
