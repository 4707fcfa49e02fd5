// The report page: figures drawn when they come into sight, a replay on a canvas, two languages, sortable tables.
const content = JSON.parse(document.getElementById("content").textContent);
const page = document.documentElement;
const drawn = new Set();

const language = () => (page.lang === "zh" ? "zh" : "en");

function worded(value) {
  if (typeof value === "string") {
    if (!value.startsWith("@")) return value;
    const [key, ...parts] = value.slice(1).split("|"); // "@place|3|1": the word "place", with 3 for {n} and 1 for {m}
    const word = content.words[language()][key] ?? key.replaceAll("_", " ");
    return parts.reduce((text, part, at) => text.replace(`{${"nmk"[at]}}`, worded(part)), word);
  }
  if (Array.isArray(value)) return typeof value[0] === "number" ? value : value.map(worded);
  if (value && typeof value === "object") return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, worded(v)]));
  return value;
}

let loading;
function plotly() {
  loading ??= (async () => {
    const packed = document.getElementById("plotly").textContent;
    const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    const script = document.createElement("script");
    script.textContent = await new Response(stream).text();
    document.head.append(script);
    return window.Plotly;
  })();
  return loading;
}

async function draw(figure) {
  const place = document.getElementById(`figure-${figure.name}`);
  const style = getComputedStyle(document.body);
  const colour = style.getPropertyValue("color");
  const line = getComputedStyle(page).getPropertyValue("--line");
  const axis = { gridcolor: line, linecolor: line, zerolinecolor: line, automargin: true };
  const given = worded(figure.layout);
  const layout = {
    ...given, margin: { l: 60, r: 16, t: 16, b: 48 }, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
    font: { color: colour, family: style.fontFamily }, legend: { orientation: "h", y: 1.12 },
    xaxis: { ...axis, ...given.xaxis }, yaxis: { ...axis, ...given.yaxis },
  };
  const Plotly = await plotly();
  // Not react: with nothing but a title changed it forgets the axes' ranges.
  await Plotly.newPlot(place, worded(figure.data), layout, { responsive: true, displaylogo: false, modeBarButtons: [["toImage", "resetScale2d"]] });
  drawn.add(figure.name);
}

const seen = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (!entry.isIntersecting) continue;
    seen.unobserve(entry.target);
    draw(content.figures.find((f) => `figure-${f.name}` === entry.target.id));
  }
}, { rootMargin: "400px" });
for (const figure of content.figures) seen.observe(document.getElementById(`figure-${figure.name}`));

async function drawAll() {
  for (const figure of content.figures) if (!drawn.has(figure.name)) await draw(figure);
}
async function redraw() {
  for (const figure of content.figures) if (drawn.has(figure.name)) await draw(figure);
  page.dataset.drawn = language();
}
window.drawAll = drawAll; // for printing by program
window.addEventListener("beforeprint", drawAll);

function label() { // what a screen reader says cannot be switched by style alone
  const words = content.words[language()];
  for (const place of document.querySelectorAll("[data-label]")) place.ariaLabel = words[place.dataset.label];
  for (const place of document.querySelectorAll("[data-text]")) place.textContent = worded(place.dataset.text);
  for (const figure of content.figures)
    document.getElementById(`figure-${figure.name}`).ariaLabel = `${words["fig_" + figure.name] ?? figure.name}: ${figure.alt[language()]}`;
}
label();

document.getElementById("language").addEventListener("click", () => {
  page.lang = language() === "en" ? "zh" : "en";
  label();
  redraw();
});

for (const table of document.querySelectorAll("table.sortable")) {
  table.querySelectorAll("th").forEach((head, column) => {
    head.tabIndex = 0;
    const sort = () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      table.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => row.cells[column].dataset.sort ?? row.cells[column].textContent.trim();
      const rows = [...table.tBodies[0].rows].sort((a, b) => {
        const [x, y] = [key(a), key(b)];
        const [n, m] = [Number(x), Number(y)];
        const order = Number.isNaN(n) || Number.isNaN(m) ? x.localeCompare(y) : n - m;
        return up ? order : -order;
      });
      table.tBodies[0].append(...rows);
    };
    head.addEventListener("click", sort);
    head.addEventListener("keydown", (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); sort(); } });
  });
}

if (content.replay) startReplay(content.replay);

function startReplay(replay) {
  const canvas = document.getElementById("replay-canvas");
  const slider = document.getElementById("replay-slider");
  const select = document.getElementById("replay-block");
  const output = document.getElementById("replay-time");
  const play = document.getElementById("replay-play");
  const printed = document.getElementById("replay-printed");
  const colours = { right: "#2a9d6f", wrong: "#d1495b", late: "#e8a33d", false_positive: "#7b4fb3", after_target: "#7d93c9", none: "#8a8f98" };
  const windowS = 10;
  let block, traces, timer = null, last = 0;

  function choose(index) {
    block = replay.blocks[index];
    const raw = atob(block.traces); // unpacked only for the block that is looked at
    traces = Int8Array.from(raw, (c) => c.charCodeAt(0));
    slider.max = block.seconds;
    slider.value = Math.min(windowS, block.seconds);
    show();
  }

  function show() {
    const now = Number(slider.value);
    output.textContent = `${now.toFixed(2)} s`;
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [canvas.clientWidth, 420];
    canvas.width = w * ratio; canvas.height = h * ratio;
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const style = getComputedStyle(page);
    const [fg, soft] = [style.getPropertyValue("--fg"), style.getPropertyValue("--soft")];
    const from = Math.max(0, now - windowS);
    const x = (t) => 52 + ((t - from) / windowS) * (w - 62);
    const rows = replay.channels.length;
    const gap = (h - 50) / rows;
    pen.font = "12px system-ui";
    replay.channels.forEach((name, row) => {
      const middle = 30 + gap * (row + 0.5);
      pen.fillStyle = soft; pen.fillText(name, 4, middle + 4);
      pen.strokeStyle = fg; pen.lineWidth = 1; pen.beginPath();
      const [first, stop] = [Math.floor(from * replay.rate), Math.min(Math.floor(now * replay.rate), block.samples)];
      for (let k = first; k < stop; k++) {
        const y = middle - (traces[row * block.samples + k] / 127) * gap;
        k === first ? pen.moveTo(x(k / replay.rate), y) : pen.lineTo(x(k / replay.rate), y);
      }
      pen.stroke();
    });
    for (const [t, code] of block.codes) {
      if (t < from || t > now) continue;
      pen.strokeStyle = soft; pen.setLineDash([3, 3]); line(pen, x(t), 22, h - 18); pen.setLineDash([]);
      pen.fillStyle = soft; pen.fillText(code, x(t) + 2, h - 6);
    }
    for (const [t, value, mark] of block.reports) {
      if (t < from || t > now) continue;
      pen.strokeStyle = pen.fillStyle = colours[mark] ?? fg; pen.lineWidth = 2; line(pen, x(t), 18, h - 18);
      pen.fillText(content.words[language()][`answer_${value}`] ?? value, x(t) - 8, 14);
    }
    const index = replay.blocks.indexOf(block);
    const lines = replay.printed.filter(([b, t]) => b === index && t <= now).slice(-30).map(([, , , text]) => text);
    printed.textContent = lines.join("");
  }

  function line(pen, at, top, bottom) { pen.beginPath(); pen.moveTo(at, top); pen.lineTo(at, bottom); pen.stroke(); }
  function stop() { cancelAnimationFrame(timer); timer = null; play.ariaPressed = "false"; }
  function frame(stamp) {
    slider.value = Number(slider.value) + (stamp - last) / 1000;
    last = stamp;
    show();
    if (Number(slider.value) >= block.seconds) stop(); else timer = requestAnimationFrame(frame);
  }
  function jump(step) {
    const now = Number(slider.value);
    const times = block.reports.map(([t]) => t);
    const to = step > 0 ? times.find((t) => t > now + 1e-6) : times.findLast((t) => t < now - 1e-6);
    if (to !== undefined) { slider.value = to; show(); }
  }

  select.addEventListener("change", () => { stop(); choose(Number(select.value)); });
  slider.addEventListener("input", show);
  play.addEventListener("click", () => {
    if (timer) return stop();
    play.ariaPressed = "true"; last = performance.now(); timer = requestAnimationFrame(frame);
  });
  document.getElementById("replay-next").addEventListener("click", () => jump(1));
  document.getElementById("replay-previous").addEventListener("click", () => jump(-1));
  new ResizeObserver(show).observe(canvas);
  choose(0);
}
