// What plain forms cannot do: a file that is dropped, all boxes at once, and copying a command.
"use strict";

document.addEventListener("dragover", (event) => {
  const zone = document.querySelector("[data-drop]");
  if (!zone || !event.dataTransfer || !event.dataTransfer.types.includes("Files")) return;
  event.preventDefault();
  zone.classList.add("over");
});

document.addEventListener("dragleave", (event) => {
  if (event.relatedTarget === null) document.querySelector("[data-drop]")?.classList.remove("over");
});

document.addEventListener("drop", (event) => {
  const zone = document.querySelector("[data-drop]");
  if (!zone || !event.dataTransfer || !event.dataTransfer.files.length) return;
  event.preventDefault();
  zone.classList.remove("over");
  const input = zone.querySelector("input[type=file]");
  input.files = event.dataTransfer.files;
  zone.requestSubmit();
});

document.addEventListener("submit", (event) => {
  const zone = event.target.closest("[data-drop]");
  if (!zone) return;
  const file = zone.querySelector("input[type=file]").files[0];
  const large = Boolean(file && file.size > Number(zone.dataset.limit));
  zone.querySelector("[data-large]").hidden = !large;
  if (large) event.preventDefault();
  else zone.querySelector("[data-sending]").hidden = false;
});

document.addEventListener("change", (event) => {
  const all = event.target.closest("[data-all]");
  if (!all) return;
  for (const box of document.querySelectorAll(`input[name="${all.dataset.all}"]`)) {
    box.checked = all.checked;
  }
});

// An answer that a later change has overtaken is not shown. Nothing is aborted, since what was sent
// is kept in any case, and an abort would be told as an error.
document.addEventListener("htmx:config:request", (event) => {
  const asked = event.detail.ctx;
  asked.request.abort = () => {
    asked.status = "overtaken";
  };
});
