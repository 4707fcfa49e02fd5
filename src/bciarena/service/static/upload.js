// Sends a package with a progress bar; without this script the plain form does the same.

const form = document.getElementById("upload");
form?.addEventListener("submit", (event) => {
  event.preventDefault();
  const bar = form.querySelector("progress");
  const note = form.querySelector("[role=alert]");
  const button = form.querySelector("button");
  const request = new XMLHttpRequest();
  note.hidden = true;
  bar.hidden = false;
  button.disabled = true;
  request.upload.addEventListener("progress", (news) => { if (news.lengthComputable) bar.value = news.loaded / news.total; });
  request.addEventListener("load", () => {
    if (request.status < 400) { location.href = request.responseURL; return; }
    const page = new DOMParser().parseFromString(request.responseText, "text/html");
    fail((page.querySelector("[role=alert]")?.textContent ?? request.responseText) || request.statusText);
  });
  request.addEventListener("error", () => fail(form.dataset.lost ?? "…"));
  function fail(words) {
    note.textContent = words.trim();
    note.hidden = false;
    bar.hidden = true;
    button.disabled = false;
  }
  request.open("POST", form.action);
  request.send(new FormData(form));
});
