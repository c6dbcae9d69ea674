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

/** Change the table; false if the change will be gone with this page. */
async function change(key, act, durability) {
  unsafe.add(key);
  try {
    const transaction = database.transaction(TABLE, "readwrite", { durability });
    act(transaction.objectStore(TABLE));
    await new Promise((resolve, reject) => {
      transaction.oncomplete = resolve;
      transaction.onabort = transaction.onerror = () => reject(transaction.error);
    });
  } catch {
    return false;
  }
  unsafe.delete(key);
  return true;
}

export const read = (key) => memory.get(key) ?? null;

/** Keep a value; with `isPrecious`, the promise is kept even if the machine stops. */
export function write(key, value, isPrecious = false) {
  const before = read(key);
  memory.set(key, value);
  channel?.postMessage({ key, value, before });
  const durability = isPrecious ? "strict" : "relaxed";
  return change(key, (table) => table.put(value, key), durability);
}

export function erase(key) {
  if (!memory.has(key)) return;
  const before = read(key);
  memory.delete(key);
  channel?.postMessage({ key, value: null, before });
  change(key, (table) => table.delete(key), "relaxed").then(() => unsafe.delete(key));
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
