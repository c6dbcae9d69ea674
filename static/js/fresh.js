// Keeps a page's numbers fresh while somebody looks: asks whether there are newer ones, and swaps
// the part marked data-document. What the reader has open, focused or sorted there starts anew, so
// nothing is swapped while focus is inside, except where there were no numbers yet. What is shown
// carries its tag, so that a look costs the server little while it is the newest.

const SOON_MS = 1000;
const LATER_MS = 4000;

function parts(root) {
  return [root.querySelector("#result-state"), root.querySelector("[data-document]")];
}

// Puts a newer part in the place of an older one; focus inside stays on the same place.
function swap(older, newer) {
  const places = (part) => [...part.querySelectorAll("a, button, summary")];
  const at = places(older).indexOf(document.activeElement);
  older.replaceWith(newer);
  if (at >= 0) places(newer)[at]?.focus();
}

// What a reader has open in the banner stays open while it says the same.
function refreshTrust(newer) {
  const older = document.querySelector("#trust");
  if (older && newer && older.textContent !== newer.textContent) swap(older, newer);
}

// The first numbers bring with them what there is to choose. What somebody types stays, and a list
// that was just chosen from keeps the focus.
function refreshRail(newer) {
  const older = document.querySelector("#controls");
  if (!older || !newer || older.elements.length === newer.elements.length) return;
  const focused = older.contains(document.activeElement) ? document.activeElement : null;
  if (focused && !(focused.id && focused.matches("select"))) return;
  older.replaceWith(newer);
  if (focused) document.getElementById(focused.id)?.focus();
}

function isBusy(target) {
  return target?.contains(document.activeElement) && target.childElementCount > 0;
}

async function look() {
  const [oldState, oldDocument] = parts(document);
  if (isBusy(oldDocument)) return;
  const headers = { "If-None-Match": oldState.dataset.tag };
  const answer = await fetch(location.href, { headers, cache: "no-store", redirect: "error" });
  if (answer.status !== 200) return;
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [newState, newDocument] = parts(page);
  if (!newState || isBusy(oldDocument)) return;
  // What stands within the part comes with it.
  if (!oldDocument.contains(oldState)) swap(oldState, newState);
  if (!newDocument.querySelector("#trust")) refreshTrust(page.querySelector("#trust"));
  oldDocument.replaceWith(newDocument);
  refreshRail(page.querySelector("#controls"));
  document.dispatchEvent(new CustomEvent("document-swapped"));
}

async function loop() {
  if (!document.hidden) {
    try {
      await look();
    } catch {
      // The server or the connection is away: the next look may find it.
    }
  }
  const isPending = document.querySelector("#result-state[data-fresh-at]");
  setTimeout(loop, isPending ? SOON_MS : LATER_MS);
}

if (document.querySelector("#result-state")) loop();
