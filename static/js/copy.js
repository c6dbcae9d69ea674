// Buttons that copy the text in their data-copy, where the browser lets them.

for (const button of navigator.clipboard ? document.querySelectorAll("[data-copy]") : []) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    const status = document.getElementById("copied");
    status.textContent = status.dataset.copied;
    button.classList.add("done");
  });
}
