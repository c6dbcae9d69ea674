// Sends the path of every file of a chosen folder, which the browser leaves out of its name.

for (const input of document.querySelectorAll("input[data-folder]")) {
  input.form.addEventListener("submit", () => {
    for (const old of input.form.querySelectorAll("input[name=path]")) old.remove();
    for (const file of input.files) {
      const field = document.createElement("input");
      field.type = "hidden";
      field.name = "path";
      field.value = file.webkitRelativePath || file.name;
      input.form.append(field);
    }
  });
}
