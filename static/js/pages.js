// The item that is shown and the screens ahead, with pictures and recordings, kept for a reload
// without a connection. The service worker (templates/annotation/offline.js) makes a page of them.
//
// They lie in a cache of the signed-in person's. Only a page that the server just sent may make it:
// once it is gone, because somebody signed out or in, an older page keeps nothing more. An item stays
// until its answer is stored; X-Answered marks one whose answer waits.

import { unsentFor } from "./outbox.js";

const PREFIX = "touchstone-pages-";
// How many pictures and recordings are kept, and how many bytes each may have.
const MOST_FILES = 30, MOST_BYTES = 4 * 2 ** 20;
const { person } = document.getElementById("outbox").dataset;
const { worker } = document.getElementById("annotate").dataset;
const isPossible = "serviceWorker" in navigator && "caches" in window;
let begun = null;
let changing = Promise.resolve(), fetching = Promise.resolve();
// Where the item that is shown lies, and whether its answer was stored when it came.
let path = "", isStored = false;
// Answered while their files were on the way.
const dropped = new Set();

const open = async () => (await caches.has(PREFIX + person)) && caches.open(PREFIX + person);
const pathOf = ({ url }) => new URL(url).pathname;
const match = (cache, at) => cache.match(at, { ignoreVary: true });
const read = async (cache, at) => await (await match(cache, at))?.text() ?? "";

/** The part of a page, or of what a script gets, that is the item. */
const cut = (text) =>
  text.slice(text.indexOf('<article id="item"'), text.lastIndexOf("</article>") + "</article>".length);

/** Where the pictures and recordings of an item lie. */
export const filesOf = (html) =>
  [...html.matchAll(/ src="([^"#]+\/media\/)[#"]/g)].map(([, at]) => at);

const put = (cache, at, html, headers = {}) =>
  cache.put(at, new Response(html, { headers: { "Content-Type": "text/html; charset=utf-8", ...headers } }));

async function remove(cache, at) {
  for (const each of [at, ...filesOf(await read(cache, at))]) await cache.delete(each);
}

/** Do something with the cache; a browser that keeps nothing breaks nothing. */
async function use(act) {
  try {
    await begun;
    const cache = await open();
    return cache ? await act(cache) : null;
  } catch {
    return null;
  }
}

const change = (act) => (changing = changing.then(() => use(act)));

/** An item came; `html` is null for the one that came with the page. `address` is the campaign's. */
export function arrive(address, html) {
  if (!isPossible) return;
  const [before, wasStored] = [path, isStored];
  path = window.location.pathname;
  isStored = document.querySelector("#item [data-stored]") !== null;
  dropped.delete(path);
  if (before && before !== path) change((cache) => leave(cache, before, wasStored));
  if (html) return keep([{ path, html }]);
  begun ??= begin(address).catch(() => {});
  change(markAnswered);
}

/** A page that was left at once may not have come to it. */
async function markAnswered(cache) {
  for (const each of await cache.keys()) await leave(cache, pathOf(each));
}

/** Back to an item needs no connection until its answer is stored. */
async function leave(cache, at, wasStored) {
  const html = unsentFor(at) && await read(cache, at);
  if (html) await put(cache, at, html, { "X-Answered": "1" });
  else if (wasStored) await remove(cache, at);
}

/** Keep the page around the items as the server sends it, and its own item. */
async function begin(address) {
  await navigator.serviceWorker.register(worker);
  const before = await open();
  let shell = before && await match(before, address);
  const now = path;
  // A redirect leads to the sign-in page, whose cookie would spoil a form that is open in another tab.
  if (!shell || pathOf(shell) !== now) {
    shell = await fetch(now, { headers: { Accept: "text/html" }, redirect: "error" });
  }
  if (!shell.ok) return;
  const text = await shell.clone().text();
  if (!text.includes(`data-person="${person}"`)) return;
  for (const name of await caches.keys()) {
    if (name.startsWith(PREFIX) && name !== PREFIX + person) await caches.delete(name);
  }
  const cache = await caches.open(PREFIX + person);
  await cache.put(address, shell);
  keep([{ path: now, html: text }]);
}

/** Keep screens: [{path, html}]. One with pictures or recordings `isWhole` once it is kept. */
export function keep(screens) {
  for (const each of screens) {
    if (!filesOf(each.html).length) change((cache) => put(cache, each.path, cut(each.html)));
    else fetching = fetching.then(() => use((cache) => keepWhole(cache, each)));
  }
}

/** Keep a screen behind its files, within the limits, where a worker can show them. */
async function keepWhole(cache, screen) {
  await navigator.serviceWorker.ready;
  for (const at of filesOf(screen.html)) {
    if (await match(cache, at)) continue;
    if ((await cache.keys()).filter(isFile).length >= MOST_FILES) return;
    const reply = await fetch(at, { redirect: "error" });
    const fits = reply.ok && reply.headers.get("Content-Length") <= MOST_BYTES;
    if (!fits) return reply.body.cancel();
    await cache.put(at, reply);
  }
  await put(cache, screen.path, cut(screen.html));
  if (dropped.has(screen.path)) await remove(cache, screen.path);
  screen.isWhole = true;
}

const isFile = (request) => pathOf(request).endsWith("/media/");

/** An item as it is kept; nothing where it is not. */
export const find = (at) => use((cache) => read(cache, at));

/** Forget what was answered. */
export function drop(at) {
  dropped.add(at);
  change((cache) => remove(cache, at));
}

/** Forget everything: nobody is signed in. */
export const forget = () => change(() => caches.delete(PREFIX + person));

/** The screens of a campaign that are kept, in their order: [{path, html, isWhole}]. */
export async function recall(address) {
  const found = await use(async (cache) => {
    const requests = await cache.keys();
    return Promise.all(requests.filter((each) => !isFile(each)).map(async (request) => {
      const html = await read(cache, request.url);
      return { path: pathOf(request), html, isWhole: true };
    }));
  });
  const place = ({ html }) => Number(/data-first="(\d+)"/.exec(html)[1]);
  const own = (found ?? []).filter(({ html }) =>
    html.startsWith("<article") && html.includes(`data-continue="${address}"`));
  return own.sort((one, other) => place(one) - place(other));
}
