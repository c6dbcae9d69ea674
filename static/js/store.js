// localStorage that never throws: where it is full or blocked, this page's memory serves instead.

const memory = new Map();

export function read(key) {
  try {
    return JSON.parse(memory.get(key) ?? localStorage.getItem(key));
  } catch {
    return null;
  }
}

/** Keep a value; false if it will be gone with this page. */
export function write(key, value) {
  const raw = JSON.stringify(value);
  memory.delete(key);
  try {
    localStorage.setItem(key, raw);
    return true;
  } catch {
    memory.set(key, raw);
    return false;
  }
}

export function erase(key) {
  memory.delete(key);
  try {
    localStorage.removeItem(key);
  } catch {
    // Nothing was kept there.
  }
}

export function keys(prefix) {
  let kept = [];
  try {
    kept = Object.keys(localStorage);
  } catch {
    // Blocked: only this page's memory is left.
  }
  return [...new Set([...kept, ...memory.keys()])].filter((key) => key.startsWith(prefix));
}

/** Whether something would be lost with this page. */
export function isForgetful(prefix) {
  return [...memory.keys()].some((key) => key.startsWith(prefix));
}
