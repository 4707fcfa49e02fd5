// The calculator of a contest's page: asks the server, whose answer is the contest's own score.

const form = document.getElementById("calculator");
const out = form?.querySelector("output b");
let asked = 0;

async function update() {
  const own = ++asked;
  if (!form.checkValidity()) { out.textContent = "–"; return; }
  const answer = await fetch(`${form.action}?${new URLSearchParams(new FormData(form))}`, { headers: { accept: "application/json" } });
  if (own !== asked) return; // a later question is on its way
  out.textContent = answer.ok ? (await answer.json()).score : "–";
}

form?.addEventListener("input", update);
form?.addEventListener("submit", (event) => { event.preventDefault(); update(); });
