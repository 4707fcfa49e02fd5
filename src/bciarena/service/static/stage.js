// The projector: asks where the show is, fetches what has happened since, and draws it. It never knows the future.

import "./site.js";

const said = JSON.parse(document.getElementById("said").textContent);
const el = (id) => document.getElementById(id);
const AGO_S = 5; // seconds of signal on the screen
const LAG_S = 1.2; // behind the site's clock, in real seconds: what is drawn has been fetched
const zh = document.documentElement.lang.startsWith("zh");

const show = { place: -2, have_s: 0, total_s: 0, over: [], answers: [], opened: [], blocks: [], rate: 10, channels: [], traces: [], trials: 0 };
let state = null;
let stateAt = 0;
const own = { on: said.free, place: 0, at_s: 0, goes: true, speed: 10, since: performance.now() };

function begin(place) {
  Object.assign(show, { place, have_s: 0, total_s: 0, over: [], answers: [], opened: [], blocks: [], traces: [], trials: 0, missing: false });
}

async function ask(path) {
  const answer = await fetch(`${said.base}/${path}`, { headers: { accept: "application/json" } });
  if (!answer.ok) throw new Error(String(answer.status));
  return answer.json();
}

// Seconds of the recording on the screen now.
function now_s() {
  if (own.on) {
    const went = own.goes ? ((performance.now() - own.since) / 1000) * own.speed : 0;
    return Math.min(own.at_s + went, show.total_s || Infinity);
  }
  if (!state) return 0;
  const went = state.goes ? ((performance.now() - stateAt) / 1000 - LAG_S) * state.speed : 0;
  return Math.max(0, state.shown_s + went);
}

const place = () => (own.on ? own.place : state ? state.at : -1);

async function fetchMore() {
  const at = place();
  if (at !== show.place) begin(at);
  if (!state || at < 0 || at >= state.teams.length || show.missing) return;
  const ahead = own.on ? own.speed * 4 : (state.goes ? state.speed : 1) * (LAG_S + 1);
  const until = now_s() + ahead + 1;
  if (show.have_s >= until || (show.total_s && show.have_s >= show.total_s)) return;
  const more = await ask(`run/${at}?from=${show.have_s}&to=${until}`);
  if (at !== show.place) return;
  take(more);
}

function take(more) {
  const bytes = Uint8Array.from(atob(more.traces), (letter) => letter.charCodeAt(0));
  const values = new Int8Array(bytes.buffer);
  more.channels.forEach((_, k) => {
    const row = (show.traces[k] ??= []);
    for (let i = 0; i < more.samples; i++) row.push(values[k * more.samples + i]);
  });
  for (const name of ["over", "answers", "opened"]) show[name].push(...more[name]);
  Object.assign(show, { have_s: more.to_s, total_s: more.total_s, rate: more.rate, channels: more.channels, blocks: more.blocks, trials: more.trials });
}

async function watch() {
  for (;;) {
    try {
      state = await ask("state");
      stateAt = performance.now();
      board();
    } catch { /* the site is away: the next round asks again */ }
    await new Promise((done) => setTimeout(done, state?.live ? 400 : 1000));
  }
}

async function follow() {
  for (;;) {
    try { await fetchMore(); } catch (error) { show.missing = error.message === "404" && !state?.live; }
    await new Promise((done) => setTimeout(done, 350));
    if (show.missing && state?.teams[show.place]?.state === "played") show.missing = false;
  }
}

// ---------------------------------------------------------------- drawing

const text = (id, words) => { const item = el(id); if (item.textContent !== words) item.textContent = words; };
const fixed = (value) => (value === null || value === undefined ? "–" : value.toFixed(2));

function frame() {
  requestAnimationFrame(frame);
  if (!state) return;
  const at = place();
  const live = !own.on && state.live;
  document.body.classList.toggle("rest", !live && !state.teams[at]); // the title, and the outcome
  document.body.classList.toggle("live", Boolean(live));
  if (live) return drawLive(live);
  const team = state.teams[at];
  text("place", team ? `${at + 1}/${state.teams.length}` : "");
  text("who", team ? team.name : at >= state.teams.length ? state.ranking?.[0]?.team ?? "" : state.next ? said.words.next_team.replace("{s}", state.next) : state.teams.every((one) => one.score !== null) ? said.words.all_played : said.words.soon);
  const t = now_s();
  const over = show.over.filter((one) => one[0] <= t);
  const answer = show.answers.findLast((one) => one[0] <= t);
  const trial = show.opened.filter((one) => one[0] <= t).length;
  const fresh = answer && show.opened.filter((one) => one[0] <= t && one[0] > answer[0]).length === 0;
  const last = over.at(-1);
  tellAnswer(fresh ? answer[1] : "", fresh ? answer[2] : last && last[4] === "missing" && t - last[0] < 2 ? "missing" : "");
  text("score", last ? fixed(last[5]) : "–");
  text("right", over.length ? `${over.filter((one) => one[4] === "right" || one[4] === "quiet").length}/${over.length}` : "–");
  text("trial", team && show.trials ? `${trial}/${show.trials}` : "–");
  el("fill").style.width = show.total_s ? `${Math.min(100, (100 * t) / show.total_s)}%` : "0";
  const block = show.blocks.findLast((one) => one[0] <= t);
  text("clock", team ? `${block ? said.words.subject.replace("{s}", block[1]).replace("{b}", block[2]) + " · " : ""}${clock(t)}${state.goes || own.on ? "" : ` · ${said.words.paused}`}` : "");
  strip(over.map((one) => one[4]));
  if (last && last[5] !== boarded) { boarded = last[5]; board(); }
  drawTraces(show.traces, show.rate, t, show.channels, show.opened, show.answers);
  if (own.on && document.activeElement !== el("seek")) { el("seek").max = show.total_s || 1; el("seek").value = t; }
}

const clock = (t) => `${Math.floor(t / 60)}:${String(Math.floor(t % 60)).padStart(2, "0")}`;

function tellAnswer(words, mark) {
  const box = el("answer").parentElement;
  box.className = `answer ${mark}`;
  text("answer", words || "–");
  text("mark", mark ? said.marks[mark] ?? "" : "");
}

let boarded = null; // the running score that the board shows
let stripped = "";
function strip(marks) {
  const kept = marks.slice(-90);
  const key = kept.join();
  if (key === stripped) return;
  stripped = key;
  el("strip").replaceChildren(...kept.map((mark) => Object.assign(document.createElement("i"), { className: mark })));
}

function drawLive(live) {
  text("place", said.words.live);
  text("who", live.team);
  const last = live.fresh ? live.answers.at(-1) : null;
  tellAnswer(last ? last[zh ? "zh" : "en"] : "", last?.mark ?? "");
  text("score", `≈ ${fixed(live.score)}`);
  text("right", `${live.right}/${live.trials}`);
  text("trial", String(live.trials));
  text("clock", said.words.estimate);
  strip(live.answers.map((one) => one.mark));
  const rows = (live.data ?? []).map((row) => {
    const middle = row.reduce((sum, one) => sum + one, 0) / Math.max(row.length, 1);
    const size = Math.max(...row.map((one) => Math.abs(one - middle)), 1e-6);
    return row.map((one) => ((one - middle) / size) * 100);
  });
  drawTraces(rows, live.rate ?? 25, (rows[0]?.length ?? 0) / (live.rate ?? 25), live.channels ?? [], [], []);
}

// A canvas needs plain colours: asked of an element, since the variables depend on the theme.
const probe = document.body.appendChild(Object.assign(document.createElement("span"), { hidden: true }));
function colour(name) {
  probe.style.color = `var(--${name})`;
  return getComputedStyle(probe).color;
}

function drawTraces(rows, rate, t, channels, opened, answers) {
  const canvas = el("traces");
  const ratio = window.devicePixelRatio || 1;
  const [w, h] = [canvas.clientWidth, canvas.clientHeight];
  if (canvas.width !== Math.round(w * ratio)) canvas.width = Math.round(w * ratio);
  if (canvas.height !== Math.round(h * ratio)) canvas.height = Math.round(h * ratio);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, w, h);
  const left = h * 0.16;
  const x = (at) => left + ((at - (t - AGO_S)) / AGO_S) * (w - left - 4);
  pen.font = `${Math.max(11, h * 0.055)}px system-ui`;
  pen.textBaseline = "middle";
  for (const [at, number] of opened) {
    if (at < t - AGO_S || at > t) continue;
    pen.strokeStyle = colour("warn"); pen.lineWidth = 2;
    pen.beginPath(); pen.moveTo(x(at), 0); pen.lineTo(x(at), h); pen.stroke();
    pen.fillStyle = colour("warn"); pen.fillText(String(number), x(at) + 4, h * 0.05);
  }
  for (const [at, , mark] of answers) {
    if (at < t - AGO_S || at > t) continue;
    pen.fillStyle = colour(mark === "right" ? "good" : "bad");
    pen.fillRect(x(at) - 2, 0, 4, h);
  }
  pen.strokeStyle = colour("accent"); pen.lineWidth = Math.max(1.2, h / 260);
  rows.forEach((row, k) => {
    const y = ((k + 0.5) * h) / rows.length;
    pen.fillStyle = colour("faint");
    pen.fillText(channels[k] ?? "", 6, y);
    pen.beginPath();
    const first = Math.max(0, Math.ceil((t - AGO_S) * rate));
    const last = Math.min(row.length, Math.floor(t * rate));
    for (let i = first; i < last; i++) pen.lineTo(x(i / rate), y - (row[i] / 127) * (h / rows.length) * 0.9);
    pen.stroke();
  });
}

// ---------------------------------------------------------------- the board

function board() {
  const list = el("board");
  const before = new Map([...list.children].map((item) => [item.dataset.team, item.getBoundingClientRect().top]));
  const at = place();
  const running = show.over.filter((one) => one[0] <= now_s()).at(-1);
  let rows = state.teams.map((team, k) => ({ ...team, on: k === at, shown: own.on && k > at ? null : k === at && running && team.score === null ? running[5] : team.score }));
  if (state.live) rows = rows.map((row) => ({ ...row, on: row.name === state.live.team, shown: row.name === state.live.team ? state.live.score : row.score }));
  if (state.ranking && !own.on) rows = state.ranking.map((row) => ({ name: row.team, shown: row.score, on: false, more: more(row), departures: state.teams.find((team) => team.name === row.team)?.departures }));
  else rows.sort((a, b) => (b.shown ?? -1) - (a.shown ?? -1));
  list.replaceChildren(...rows.map((row, k) => line(row, k)));
  for (const item of list.children) { // moves from where it was
    const was = before.get(item.dataset.team);
    if (was === undefined) continue;
    item.style.transition = "none";
    item.style.transform = `translateY(${was - item.getBoundingClientRect().top}px)`;
    item.getBoundingClientRect();
    item.style.transition = "";
    item.style.transform = "";
  }
}

const more = (row) => [row.award, row.low === null ? "" : `${row.low.toFixed(2)} – ${row.high.toFixed(2)}`,
  row.rank === null ? "" : !row.tested ? said.words.untested : row.first !== row.last ? said.words.tie.replace("{a}", row.first).replace("{b}", row.last) : ""].filter(Boolean).join(" · ");

function line(row, k) {
  const item = document.createElement("li");
  item.dataset.team = row.name;
  item.className = row.on ? "on" : "";
  const add = (kind, words, name = "") => item.append(Object.assign(document.createElement(kind), { textContent: words, className: name }));
  add("span", row.shown === null || row.shown === undefined ? "" : String(k + 1), "faint");
  add("b", row.name);
  add("span", fixed(row.shown), "num");
  const below = row.more ?? (row.verdict && row.shown !== null ? row.verdict : row.shown === null ? said.words[row.state] : "");
  if (below) add("small", below);
  for (const words of row.departures ?? []) add("small", words, "warn");
  return item;
}

// ---------------------------------------------------------------- a replay has its own clock

function go(step) {
  const last = state ? state.teams.length - 1 : 0;
  if (step === "pause") { own.at_s = now_s(); own.goes = !own.goes; own.since = performance.now(); return; }
  own.place = Math.min(Math.max(own.place + (step === "next" ? 1 : -1), 0), last);
  Object.assign(own, { at_s: 0, goes: true, since: performance.now() });
  begin(own.place);
  board();
}

if (own.on) {
  el("own").hidden = false;
  el("own").addEventListener("click", (event) => { if (event.target.dataset.go) go(event.target.dataset.go); });
  el("speed").addEventListener("change", () => { own.at_s = now_s(); own.since = performance.now(); own.speed = Number(el("speed").value); });
  el("seek").addEventListener("input", () => {
    const to = Number(el("seek").value);
    Object.assign(own, { at_s: to, since: performance.now() });
  });
  addEventListener("keydown", (event) => {
    const step = { ArrowRight: "next", ArrowLeft: "back", " ": "pause" }[event.key];
    if (step && !event.target.closest("input, select, a, button")) { event.preventDefault(); go(step); }
  });
}
watch();
follow();
requestAnimationFrame(frame);
