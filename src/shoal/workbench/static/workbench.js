// What plain forms cannot do: a file that is dropped, all boxes at once, and a workbench that is gone.
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
  for (const box of all.closest("table").querySelectorAll(`input[name="${all.dataset.all}"]`)) {
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

// What somebody unfolded stays so when its page is renewed.
let unfolded = [];

document.addEventListener("htmx:before:swap", () => {
  unfolded = [...document.querySelectorAll("details[open][id]")].map((part) => part.id);
});

document.addEventListener("htmx:after:swap", () => {
  for (const id of unfolded) document.getElementById(id)?.setAttribute("open", "");
});

// Whether the workbench answers. While it does not, the page says so and keeps what was typed; once
// it does, the last change is sent again, and with it all that its form holds.
const BEAT = 2500;
const PATIENCE = 6000;
let unsaved = null;

function say(why) {
  const line = document.querySelector("[data-lost]");
  document.body.classList.toggle("lost", Boolean(why));
  if (!line) return;
  const words = line.dataset[why] || "";
  if (line.textContent !== words) line.textContent = words;
  line.hidden = !why;
}

async function answers() {
  try {
    const answer = await fetch("/alive", { signal: AbortSignal.timeout(PATIENCE) });
    say(answer.ok ? "" : "closed");
    return answer.ok;
  } catch {
    say("gone");
    return false;
  }
}

async function beat() {
  const gone = document.body.classList.contains("lost");
  if (!document.hidden && (await answers()) && gone && unsaved && unsaved.isConnected) {
    unsaved.dispatchEvent(new Event("change", { bubbles: true }));
  }
  setTimeout(beat, BEAT);
}
setTimeout(beat, BEAT);

document.addEventListener("change", (event) => {
  if (event.target.matches("[data-live]")) unsaved = event.target;
});

document.addEventListener("htmx:error", () => answers());

// An answer that is no page of the form must not take the form's place.
document.addEventListener("htmx:before:response", (event) => {
  const status = event.detail.ctx.response.status;
  if (status === 403 || status >= 500) {
    event.preventDefault();
    say(status === 403 ? "closed" : "failed");
  } else if (event.detail.ctx.request.method === "POST") unsaved = null;
});

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const sure = form.dataset.sure;
  delete form.dataset.sure;
  if (sure || event.defaultPrevented || form.getAttribute("method") !== "post") return;
  event.preventDefault();
  if (!(await answers())) {
    form.querySelectorAll("[data-sending]").forEach((one) => (one.hidden = true));
    return;
  }
  form.dataset.sure = "yes";
  unsaved = typed = null;
  form.requestSubmit(event.submitter);
});

// What is typed into a long form is kept by its button: whoever leaves without it is asked.
let typed = null;
document.addEventListener("input", (event) => (typed = event.target.closest("[data-typed]") || typed));

window.addEventListener("beforeunload", (event) => {
  const lost = unsaved && document.body.classList.contains("lost");
  if (lost || typed?.isConnected) event.preventDefault();
});
