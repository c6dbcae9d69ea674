// Shows an annotator's page without a connection: as it was kept by static/js/pages.js.
//
// The server comes first, and whatever it answers is what is shown; a picture or recording that is kept
// needs no server. What is kept belongs to one person; it is forgotten when somebody signs in or out,
// and when the work is over.

const FILES = {{ files|safe }};
const NAME = "touchstone-files-{{ version }}";
const FILE_PREFIX = "touchstone-files-", PAGE_PREFIX = "touchstone-pages-";
const HOME = "{% url 'home' %}";
const ITEM = `${HOME}item/`, CAMPAIGN = `${HOME}annotate/`;
// Here the person at the browser changes.
const CHANGES = /\/(login|logout)\/$|\/(a|enter|password)\/[^/]+\/$/;
const OUT = /\/logout\/$/, DRAFT = "touchstone:draft:";
const OVER = /\/(done|stopped)\/$/;
const FILE = /\/media\/$/;
// A server that has not answered by then is out of reach.
const PATIENCE_MS = 10_000;
const BEGIN = '<article id="item"', END = "</article>";

const urls = new Set(FILES.map((each) => new URL(each, location.href).href));
const pageCaches = async () =>
  (await caches.keys()).filter((each) => each.startsWith(PAGE_PREFIX));
const forget = async () =>
  Promise.all((await pageCaches()).map((each) => caches.delete(each)));

/** Forget what was begun and not submitted; answers that wait stay (static/js/store.js). */
function forgetDrafts() {
  const request = indexedDB.open("touchstone");
  request.onupgradeneeded = () => request.transaction.abort(); // There is none.
  request.onsuccess = () => {
    const kept = request.result.transaction("kept", "readwrite").objectStore("kept");
    kept.delete(IDBKeyRange.bound(DRAFT, `${DRAFT}\uffff`));
    request.result.close();
  };
}

self.addEventListener("install", (event) => event.waitUntil(install()));
self.addEventListener("activate", (event) => event.waitUntil(activate()));

async function install() {
  const cache = await caches.open(NAME);
  await cache.addAll(FILES);
  await self.skipWaiting();
}

async function activate() {
  for (const name of await caches.keys()) {
    if (name.startsWith(FILE_PREFIX) && name !== NAME) await caches.delete(name);
  }
  // Pages of an older version have files that are no longer here.
  for (const name of await pageCaches()) {
    const cache = await caches.open(name);
    for (const { request, text } of await pagesIn(cache)) {
      if (isShell(text) && !loaded(text).every((each) => urls.has(each))) await cache.delete(request);
    }
  }
  await self.clients.claim();
}

const match = (cache, path) => cache.match(path, { ignoreVary: true, ignoreSearch: true });
/** All that is kept but pictures and recordings: [{request, text, isAnswered}]. */
async function pagesIn(cache) {
  const requests = (await cache.keys()).filter(({ url }) => !FILE.test(new URL(url).pathname));
  return Promise.all(requests.map(async (request) => {
    const page = await match(cache, request.url);
    return { request, text: await page.text(), isAnswered: page.headers.has("X-Answered") };
  }));
}

async function remove(cache, at, text) {
  const files = [...text.matchAll(/ src="([^"#]+\/media\/)[#"]/g)].map(([, file]) => file);
  for (const each of [at, ...files]) await cache.delete(each);
}

const isShell = (text) => !text.startsWith(BEGIN);
const loaded = (text) =>
  [...text.matchAll(/<(?:link|script)[^>]* (?:href|src)="([^"]+)"/g)].map(([, url]) =>
    new URL(url, location.href).href);

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const { origin, pathname } = new URL(request.url);
  if (urls.has(request.url)) {
    event.respondWith(fetch(request).catch(async () =>
      (await match(await caches.open(NAME), request.url)) ?? Response.error()));
    return;
  }
  if (origin !== location.origin) return;
  if (pathname.startsWith(ITEM) && FILE.test(pathname)) event.respondWith(file(request, pathname));
  if (request.mode !== "navigate") return;
  if (CHANGES.test(pathname)) event.waitUntil(forget());
  if (OUT.test(pathname)) forgetDrafts();
  const isOurs = pathname.startsWith(ITEM) || pathname.startsWith(CAMPAIGN);
  if (request.method === "GET" && isOurs) event.respondWith(answer(event, pathname));
});

/** A picture or recording as it is kept, or the part of it that a player asks for; else the server's. */
async function file(request, path) {
  const names = await pageCaches();
  const whole = names.length === 1 && await match(await caches.open(names[0]), path);
  if (!whole) return fetch(request);
  const range = request.headers.get("Range");
  if (!range) return whole;
  const [, first, end] = /^bytes=(\d+)-(\d*)$/.exec(range) ?? [];
  const body = await whole.blob();
  const last = Math.min(end || Infinity, body.size - 1);
  // Players ask for nothing else: whatever it is, the server knows.
  if (first === undefined || first > last) return fetch(request);
  const headers = new Headers(whole.headers);
  headers.set("Content-Range", `bytes ${first}-${last}/${body.size}`);
  headers.set("Content-Length", last - first + 1);
  return new Response(body.slice(first, last + 1), { status: 206, headers });
}

/** What the server answers, or the page that is kept where it does not. */
async function answer(event, path) {
  const reply = fetch(event.request);
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE_MS)).then(() => kept(path));
  try {
    const response = await Promise.race([reply, late.then((page) => page ?? reply)]);
    event.waitUntil(learn(path, response).catch(() => {}));
    return response;
  } catch {
    return await kept(path) ?? Response.error();
  }
}

/** Keep the page around an item anew, or forget what the server no longer shows. */
async function learn(path, response) {
  if (!response.url) return; // It is a kept one.
  const isRefused = response.status >= 400 && response.status < 500;
  if (path.startsWith(CAMPAIGN) && (isRefused || response.ok && OVER.test(path))) {
    await end(CAMPAIGN + path.slice(CAMPAIGN.length).split("/")[0] + "/");
  } else if (isRefused) await drop(path);
  else if (response.ok && path.startsWith(ITEM)) await keep(response.clone());
}

async function keep(response) {
  const text = await response.clone().text();
  const [, person] = / data-person="(\w+)"/.exec(text) ?? [];
  if (!person || !text.includes(BEGIN)) return;
  const name = PAGE_PREFIX + person;
  for (const other of await pageCaches()) if (other !== name) await caches.delete(other);
  await (await caches.open(name)).put(campaignOf(text), response);
}

async function drop(path) {
  for (const name of await pageCaches()) {
    const cache = await caches.open(name);
    await remove(cache, path, await (await match(cache, path))?.text() ?? "");
  }
}

/** The work on a campaign is over: nothing of it is kept. */
async function end(address) {
  for (const name of await pageCaches()) {
    const cache = await caches.open(name);
    for (const { request, text } of await pagesIn(cache)) {
      if (campaignOf(text) === address) await remove(cache, request, text);
    }
  }
}

const campaignOf = (text) => /data-continue="([^"]+)"/.exec(text)?.[1];

/** The page at an address as it is kept, or undefined. With pages of two people there is none. */
async function kept(path) {
  const names = await pageCaches();
  if (names.length !== 1) return undefined;
  const cache = await caches.open(names[0]);
  if (path.startsWith(CAMPAIGN)) return next(cache, path);
  const item = await match(cache, path);
  const html = await item?.text();
  const shell = html && await match(cache, campaignOf(html));
  if (!shell || isShell(html)) return undefined;
  const text = await shell.text();
  const page = text.slice(0, text.indexOf(BEGIN)) + html
    + text.slice(text.lastIndexOf(END) + END.length);
  const headers = new Headers(shell.headers);
  for (const name of ["Content-Encoding", "Content-Length"]) headers.delete(name);
  return new Response(page, { headers });
}

/** The way to a campaign leads to the first of its items that are kept and were not answered. */
async function next(cache, address) {
  const places = [];
  for (const { request, text, isAnswered } of await pagesIn(cache)) {
    const place = Number(/data-first="(\d+)"/.exec(text)?.[1]);
    const isOpen = !isShell(text) && !isAnswered;
    if (isOpen && campaignOf(text) === address) places.push([place, request.url]);
  }
  places.sort(([one], [other]) => one - other);
  return places.length ? Response.redirect(places[0][1]) : undefined;
}
