// A round of scenes to watch and judge. Truth comes only with the answers to a whole round; what you said stays here.

const game = document.getElementById("game");
const words = game.dataset;
const { draw } = await import(`${words.base}.js`);
const el = (id) => document.getElementById(id);
const LOOK_MS = 2600;
const KEPT = `arena-game ${words.base}`;

let round = null;
let at = 0;
let said = "";
let since = 0;

async function begin() {
  round = await (await fetch(`${words.base}/round`)).json();
  at = 0;
  said = "";
  el("more").hidden = true;
  el("yes").hidden = el("no").hidden = el("look").hidden = false;
  look();
}

function look() {
  el("number").textContent = words.scene.replace("{n}", at + 1).replace("{m}", round.scenes.length);
  since = performance.now();
  el("yes").disabled = el("no").disabled = true;
  requestAnimationFrame(frame);
}

function frame() {
  if (!round || at >= round.scenes.length) return;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const share = still ? (performance.now() - since < LOOK_MS / 2 ? 0 : 1) : Math.min(1, Math.max(0, (performance.now() - since - 500) / (LOOK_MS - 500)));
  draw(el("scene"), round.scenes[at], share);
  if (share < 1) requestAnimationFrame(frame);
  else el("yes").disabled = el("no").disabled = false;
}

async function say(letter) {
  said += letter;
  at += 1;
  if (at < round.scenes.length) return look();
  el("yes").disabled = el("no").disabled = true;
  const form = new FormData();
  for (const [name, value] of Object.entries({ token: words.token, code: round.code, said })) form.append(name, value);
  const answer = await fetch(words.base, { method: "POST", body: new URLSearchParams(form), headers: { accept: "application/json" } });
  if (!answer.ok) { el("said").textContent = (await answer.json()).error ?? String(answer.status); return over(); }
  const { truth, visitors } = await answer.json();
  const right = truth.filter((one, k) => one === (said[k] === "y")).length;
  const marks = truth.map((one, k) => `${one ? words.yes : words.no} ${one === (said[k] === "y") ? "✓" : "✗"}`).join(" · ");
  el("said").textContent = `${words.scenes.replace("{n}", right).replace("{m}", truth.length)} ${marks}`;
  keep(truth);
  show(el("visitors"), visitors);
  over();
}

function over() {
  el("yes").hidden = el("no").hidden = el("look").hidden = true;
  el("more").hidden = false;
  el("more").focus();
}

// Truth and answer of all you have judged, counted in this browser.
function kept() {
  try { return JSON.parse(localStorage.getItem(KEPT)) ?? {}; } catch { return {}; }
}

function keep(truth) {
  const counts = kept();
  truth.forEach((one, k) => { const key = `${one ? "y" : "n"}${said[k]}`; counts[key] = (counts[key] ?? 0) + 1; });
  try { localStorage.setItem(KEPT, JSON.stringify(counts)); } catch { /* a browser that keeps nothing */ }
  you(counts);
}

function you(counts) {
  const [yy, yn, ny, nn] = ["yy", "yn", "ny", "nn"].map((key) => counts[key] ?? 0);
  const shares = [[yy + nn, yy + yn + ny + nn], [yy, yy + yn], [ny, ny + nn]];
  show(el("you"), shares.map(([hits, all]) => [hits, all, all ? hits / all : null, jeffreys(hits, all)]));
}

// The interval that the site computes, too (Jeffreys): with x = sin² t the posterior is sin^2hits · cos^2misses, summed here.
function jeffreys(hits, all) {
  if (!all) return null;
  const steps = 4000;
  const angle = (k) => (((k + 0.5) / steps) * Math.PI) / 2;
  const log = (count, x) => (count ? 2 * count * Math.log(x) : 0);
  const logs = Array.from({ length: steps }, (_, k) => log(hits, Math.sin(angle(k))) + log(all - hits, Math.cos(angle(k))));
  const most = Math.max(...logs);
  const mass = logs.map((one) => Math.exp(one - most));
  const whole = mass.reduce((sum, one) => sum + one, 0);
  const at = (share) => {
    let sum = 0;
    return Math.sin(angle(mass.findIndex((one) => (sum += one) >= share * whole))) ** 2;
  };
  return [hits ? at(0.025) : 0, hits < all ? at(0.975) : 1];
}

function show(row, shares) {
  shares.forEach(([, all, value, interval], k) => {
    const cell = row.cells[k + 1];
    cell.textContent = value === null ? "–" : `${(100 * value).toFixed(0)} %`;
    if (interval) {
      const small = document.createElement("small");
      small.textContent = `${(100 * interval[0]).toFixed(0)} – ${(100 * interval[1]).toFixed(0)}`;
      cell.append(document.createElement("br"), small);
    }
    if (k === 0) row.cells[4].textContent = all || "–";
  });
}

el("yes").addEventListener("click", () => say("y"));
el("no").addEventListener("click", () => say("n"));
el("look").addEventListener("click", look);
el("more").addEventListener("click", () => { el("said").textContent = ""; begin(); });
you(kept());
begin();
