// The signal-check page: asks for the last seconds four times a second and draws them.
const canvas = document.getElementById("traces");
const head = document.getElementById("head");
const form = document.getElementById("controls");
const language = document.body.dataset.language;
const ROW = 17, EVERY_MS = 250;
const SVG = "http://www.w3.org/2000/svg";

function asked() {
  const values = new FormData(form);
  return { scale: Number(values.get("scale")), query: new URLSearchParams({
    low: values.get("low"), high: values.get("high"), notch: values.has("notch"),
    reference: values.get("reference"), lang: language }) };
}

function drawTraces(state, scale) {
  const ratio = window.devicePixelRatio || 1;
  const width = canvas.clientWidth, height = ROW * (state.channels.length + 1);
  canvas.style.height = `${height}px`;
  canvas.width = width * ratio; canvas.height = height * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.font = "11px system-ui";
  state.channels.forEach((channel, row) => {
    const middle = ROW * (row + 1), trace = state.traces[row];
    const bad = channel.faults.length > 0;
    pen.fillStyle = pen.strokeStyle = bad ? "#f85149" : "#7ee787";
    pen.fillText(channel.name, 4, middle + 4);
    pen.beginPath();
    trace.forEach((value, k) => {
      const x = 46 + (k / Math.max(1, trace.length - 1)) * (width - 54);
      const y = middle - Math.max(-1.4, Math.min(1.4, value / scale)) * ROW * 0.5;
      if (k) pen.lineTo(x, y); else pen.moveTo(x, y);
    });
    pen.stroke();
  });
  pen.strokeStyle = "#8b949e";  // the scale: one bar is as high as the chosen number of microvolts
  pen.beginPath(); pen.moveTo(width - 5, 4); pen.lineTo(width - 5, 4 + ROW * 0.5); pen.stroke();
}

function shape(kind, attributes, text) {
  const made = document.createElementNS(SVG, kind);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

function drawHead(state) {
  const parts = [shape("circle", { class: "rim", r: 1.1 }), shape("path", { d: "M -0.12 -1.1 L 0 -1.24 L 0.12 -1.1" })];
  const largest = 40;  // microvolts: as dark as it gets
  for (const [one, two] of state.bridged) {
    const [a, b] = [state.places[one], state.places[two]];
    if (a && b) parts.push(shape("line", { x1: a[0], y1: -a[1], x2: b[0], y2: -b[1] }));
  }
  for (const channel of state.channels) {
    const place = state.places[channel.name];
    if (!place) continue;
    const share = Math.min(1, channel.spread_uv / largest);
    const fill = channel.faults.length ? "#f85149" : `hsl(${200 - 60 * share} 70% ${80 - 40 * share}%)`;
    const dot = shape("circle", { cx: place[0], cy: -place[1], r: 0.085, fill });
    dot.append(shape("title", {}, `${channel.name}: ${channel.spread_uv} µV, ${channel.mains_uv} µV`));
    parts.push(dot, shape("text", { x: place[0], y: -place[1] }, channel.name));
  }
  head.replaceChildren(...parts);
}

function listed(id, texts) {
  document.getElementById(id).replaceChildren(...texts.map((text) => {
    const item = document.createElement("li");
    item.textContent = text;
    return item;
  }));
}

function show(state, scale) {
  const { words } = state;
  const light = document.getElementById("light");
  light.className = state.waiting ? "wait" : state.fit ? "fit" : "unfit";
  document.getElementById("verdict").textContent = state.waiting ? words.waiting : state.fit ? words.fit : words.unfit;
  const kinds = ["numbers", "flat", "railed", "drift", "mains", "large"];
  const wrong = kinds.map((kind) => [kind, state.channels.filter((c) => c.faults.includes(kind)).map((c) => c.name)])
    .filter(([, names]) => names.length).map(([kind, names]) => `${words[kind]}: ${names.join(" ")}`);
  if (state.bridged.length) wrong.push(`${words.bridged}: ${state.bridged.map((pair) => pair.join("–")).join(" ")}`);
  listed("wrong", wrong.length || state.waiting ? wrong : [words.nothing]);
  const ohms = Object.entries(state.ohms).map(([name, ohm]) => `${name}: ${(ohm / 1000).toFixed(1)} kΩ`);
  document.getElementById("impedance").hidden = !ohms.length;
  listed("ohms", ohms);
  listed("notes", state.notes.slice().reverse());
  if (state.waiting) return;
  drawTraces(state, scale);
  drawHead(state);
}

async function turn() {
  const { scale, query } = asked();
  try {
    show(await (await fetch(`/signal.json?${query}`)).json(), scale);
  } catch {
    document.getElementById("light").className = "wait";  // the check was ended: what is shown is old
    document.getElementById("verdict").textContent = "–";
  }
  setTimeout(turn, EVERY_MS);
}
turn();
