// Buttons that copy the table: its source as text, or as it is shown for a word processor.

async function copy(button) {
  const { copyFrom, copyHtml } = button.dataset;
  if (copyFrom) {
    await navigator.clipboard.writeText(document.getElementById(copyFrom).textContent);
  } else {
    const table = document.getElementById(copyHtml);
    const parts = { "text/html": table.innerHTML, "text/plain": table.innerText };
    const blobs = Object.entries(parts).map(([type, text]) => [type, new Blob([text], { type })]);
    await navigator.clipboard.write([new ClipboardItem(Object.fromEntries(blobs))]);
  }
  const note = document.getElementById("copied");
  note.textContent = note.dataset.said;
}

function show() {
  if (!navigator.clipboard) return;
  for (const button of document.querySelectorAll("[data-copy-from], [data-copy-html]")) {
    button.hidden = "copyHtml" in button.dataset && !window.ClipboardItem;
    button.onclick = () => copy(button);
  }
}

show();
document.addEventListener("document-swapped", show);
