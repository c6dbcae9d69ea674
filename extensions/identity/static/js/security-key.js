// Forms that ask a security key before they are sent: data-key is "create" or "get".

const form = document.querySelector("form[data-key]");
const options = JSON.parse(document.getElementById("key-options").textContent).publicKey;

async function ask() {
  if (form.dataset.key === "create") {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return await navigator.credentials.create({ publicKey });
  }
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return await navigator.credentials.get({ publicKey });
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const note = form.querySelector("[role=alert][hidden], [role=alert].asked");
  try {
    form.elements.credential.value = JSON.stringify((await ask()).toJSON());
    form.submit();
  } catch {
    note.hidden = false;
    note.classList.add("asked");
  }
});
