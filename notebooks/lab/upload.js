// A file input. A file that is too large is refused here: sending it would break the connection to the kernel.
function render({ model, el }) {
  const label = document.createElement("label");
  const name = document.createElement("span");
  const input = document.createElement("input");
  name.textContent = model.get("label") + " ";
  input.type = "file";
  input.accept = model.get("accept");
  input.setAttribute("data-lm-suppress-shortcuts", "true");
  label.append(name, input);

  const problem = document.createElement("div");
  problem.setAttribute("role", "alert");
  problem.style.color = "var(--jp-error-color1, #c62828)";
  const status = document.createElement("div");
  status.setAttribute("role", "status");
  el.style.color = "var(--jp-ui-font-color1, inherit)";
  el.style.lineHeight = "1.6";
  el.append(label, problem, status);

  const show = () => {
    problem.textContent = model.get("problem");
    status.textContent = model.get("status");
  };
  model.on("change:problem", show);
  model.on("change:status", show);
  show();

  input.addEventListener("change", async () => {
    const [file] = input.files;
    if (!file) return;
    if (file.size > model.get("limit")) {
      model.send({ name: file.name });
      return;
    }
    const bytes = await file.arrayBuffer();
    model.send({ name: file.name }, undefined, [bytes]);
  });

  return () => {
    model.off("change:problem", show);
    model.off("change:status", show);
  };
}

export default { render };
