// Keeps a page's numbers fresh while somebody looks: asks whether there are newer ones, and swaps
// the part marked data-document. What the reader has open, focused or sorted there starts anew, so
// nothing is swapped while focus is inside, except where there were no numbers yet.

const SOON_MS = 1000;
const LATER_MS = 4000;
let tag = null;

function parts(root) {
  return [root.querySelector("#result-state"), root.querySelector("[data-document]")];
}

function isBusy(target) {
  return target?.contains(document.activeElement) && target.childElementCount > 0;
}

async function look() {
  const headers = tag ? { "If-None-Match": tag } : {};
  const answer = await fetch(location.href, { headers, cache: "no-store", redirect: "error" });
  if (answer.status !== 200) return;
  const isFirst = tag === null;
  tag = answer.headers.get("ETag");
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const [oldState, oldDocument] = parts(document);
  const [newState, newDocument] = parts(page);
  const isSame = oldState.textContent === newState?.textContent;
  if ((isFirst && isSame) || !newState || isBusy(oldDocument)) return;
  oldState.replaceWith(newState);
  oldDocument.replaceWith(newDocument);
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
