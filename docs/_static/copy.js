/* A button on every block of code that copies it: of examples with prompts the input only. */
"use strict";

function input(block) {
  const copy = block.cloneNode(true);
  const prompted = copy.querySelector(".gp") !== null;
  copy.querySelectorAll(".gp, .go, .gt, .gr, .linenos").forEach((one) => one.remove());
  const lines = copy.textContent.split("\n");
  return (prompted ? lines.filter((line) => line.trim()) : lines).join("\n").trim() + "\n";
}

async function put(text) {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("div.highlight > pre").forEach((block) => {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.setAttribute("aria-label", "Copy this code");
    button.addEventListener("click", async () => {
      try {
        await put(input(block));
        button.textContent = "Copied";
      } catch {
        button.textContent = "Press Ctrl+C";
      }
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    });
    block.parentElement.append(button);
  });
});
