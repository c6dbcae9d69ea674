// The item that is shown and the screens ahead, kept for a reload without a connection. The service
// worker (templates/annotation/offline.js) makes a page of them; no other page reads them.
//
// They lie in a cache of the signed-in person's. Only a page that the server just sent may make it:
// once it is gone, because somebody signed out or in, an older page keeps nothing more.

const PREFIX = "touchstone-pages-";
const { person } = document.getElementById("outbox").dataset;
const { worker } = document.getElementById("annotate").dataset;
const isPossible = "serviceWorker" in navigator && "caches" in window;
let begun = null;
// Where the item that is shown lies.
let path = "";

const open = async () => (await caches.has(PREFIX + person)) && caches.open(PREFIX + person);
const pathOf = ({ url }) => new URL(url).pathname;

/** The part of a page, or of what a script gets, that is the item. */
const cut = (text) =>
  text.slice(text.indexOf('<article id="item"'), text.lastIndexOf("</article>") + "</article>".length);

const put = (cache, at, html) =>
  cache.put(at, new Response(html, { headers: { "Content-Type": "text/html; charset=utf-8" } }));

/** Do something with the cache if there is one; a browser that keeps nothing breaks nothing. */
async function use(act) {
  try {
    await begun;
    const cache = isPossible && await open();
    return cache ? await act(cache) : null;
  } catch {
    return null;
  }
}

/** An item came; `html` is null for the one that came with the page. `address` is the campaign's. */
export async function arrive(address, html) {
  if (!isPossible) return;
  const before = path;
  path = window.location.pathname;
  const now = path;
  if (!html) begun ??= begin(address).catch(() => {});
  await use(async (cache) => {
    if (before && before !== now) await cache.delete(before);
    if (html) await put(cache, now, cut(html));
  });
}

/** Keep the page around the items as the server sends it, and its own item. */
async function begin(address) {
  await navigator.serviceWorker.register(worker);
  const before = await open();
  let shell = before && await before.match(address, { ignoreVary: true });
  const now = path;
  if (!shell || pathOf(shell) !== now) shell = await fetch(now, { headers: { Accept: "text/html" } });
  if (!shell.ok || shell.redirected) return;
  const text = await shell.clone().text();
  if (!text.includes(`data-person="${person}"`)) return;
  for (const name of await caches.keys()) {
    if (name.startsWith(PREFIX) && name !== PREFIX + person) await caches.delete(name);
  }
  const cache = await caches.open(PREFIX + person);
  await cache.put(address, shell);
  await put(cache, now, cut(text));
}

/** Keep screens: [{path, html}]. */
export const keep = (screens) => use((cache) =>
  Promise.all(screens.map((each) => put(cache, each.path, cut(each.html)))));

/** Forget what was answered. */
export const drop = (at) => use((cache) => cache.delete(at));

/** Forget everything: nobody is signed in. */
export const forget = () => use(() => caches.delete(PREFIX + person));

/** The screens of a campaign that are kept, in their order: [{path, html}]. */
export async function recall(address) {
  const found = await use(async (cache) => {
    const requests = await cache.keys();
    return Promise.all(requests.map(async (request) => {
      const html = await (await cache.match(request, { ignoreVary: true })).text();
      return { path: pathOf(request), html };
    }));
  });
  const place = ({ html }) => Number(/data-first="(\d+)"/.exec(html)[1]);
  const own = (found ?? []).filter(({ html }) =>
    html.startsWith("<article") && html.includes(`data-continue="${address}"`));
  return own.sort((one, other) => place(one) - place(other));
}
