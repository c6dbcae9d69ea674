// What the browser keeps: in IndexedDB, which survives a crash, with a copy in this page's memory.
// It never throws: where the database is full or blocked, the memory alone serves.

const NAME = "touchstone", TABLE = "kept";
const memory = new Map();
const unsafe = new Set();
const channel = "BroadcastChannel" in window ? new BroadcastChannel(NAME) : null;
let heard = () => {};

const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

async function open() {
  const request = indexedDB.open(NAME, 1);
  request.onupgradeneeded = () => request.result.createObjectStore(TABLE);
  const database = await done(request);
  database.onversionchange = () => database.close();
  return database;
}

const database = await open().catch(() => null);

/** Bring what is kept into memory, with what earlier versions kept in localStorage. */
async function load() {
  const table = database.transaction(TABLE).objectStore(TABLE);
  const [names, values] = await Promise.all([done(table.getAllKeys()), done(table.getAll())]);
  names.forEach((name, number) => memory.set(name, values[number]));
}

async function adopt() {
  for (const key of Object.keys(localStorage).filter((each) => each.startsWith(`${NAME}:`))) {
    if (await write(key, JSON.parse(localStorage.getItem(key)))) localStorage.removeItem(key);
  }
}

/** Change the table; false if it would not have it. */
async function change(act, durability) {
  try {
    const transaction = database.transaction(TABLE, "readwrite", { durability });
    act(transaction.objectStore(TABLE));
    transaction.commit(); // whether or not this page stays for it
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
    });
  } catch {
    return false;
  }
  return true;
}

export const read = (key) => memory.get(key) ?? null;

/** Keep a value; with `isPrecious`, the promise is kept even if the machine stops. */
export async function write(key, value, isPrecious = false) {
  const before = read(key);
  memory.set(key, value);
  channel?.postMessage({ key, value, before });
  unsafe.add(key);
  const isKept = await change((table) => table.put(value, key), isPrecious ? "strict" : "relaxed");
  if (isKept) unsafe.delete(key);
  return isKept;
}

/** Keep it no longer. If the page goes first it is there again, and what is sent twice is one. */
export function erase(key) {
  if (!memory.has(key)) return;
  const before = read(key);
  memory.delete(key);
  unsafe.delete(key);
  channel?.postMessage({ key, value: null, before });
  change((table) => table.delete(key), "relaxed");
}

export const keys = (prefix) => [...memory.keys()].filter((key) => key.startsWith(prefix));

/** Whether something would be lost with this page. */
export const isForgetful = (prefix) => [...unsafe].some((key) => key.startsWith(prefix));

/** Hear of what other tabs keep and erase: (key, value, before), null for nothing. */
export function listen(listener) {
  heard = listener;
}

channel?.addEventListener("message", ({ data: { key, value, before } }) => {
  if (value === null) memory.delete(key);
  else memory.set(key, value);
  heard(key, value, before);
});
await load().catch(() => {});
await adopt().catch(() => {});
