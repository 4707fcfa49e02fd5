// The operator's page: commands, where the block is, what the stream looks like.
import { Link } from "./link.js";
import { NO_FONT, canWrite } from "./words.js";

const $ = (id) => document.getElementById(id);
const say = JSON.parse($("words").textContent);
const link = new Link("operator");
$("no_font").textContent = canWrite(say.waiting) ? "" : NO_FONT;
const windowS = 6;
let trace = null;

for (const button of document.querySelectorAll("[data-command]")) {
  button.addEventListener("click", () => link.send({ type: "command", name: button.dataset.command }));
}

$("confirm")?.addEventListener("change", (event) => link.send({ type: "confirm", value: event.target.checked }));
window.addEventListener("keydown", (event) => { if (event.key === "Escape") link.send({ type: "command", name: "abort" }); });

link.on("status", (s) => {
  $("state").textContent = say[s.state] ?? s.state;
  $("page").textContent = s.stimulus ? say.connected : say.not_connected;
  $("void").textContent = s.void;
  if ($("confirm")) $("confirm").checked = s.confirmed;
  $("refresh").textContent = s.refresh_hz ? `${s.refresh_hz.toFixed(2)} Hz` : "–";
  $("trial").textContent = s.practice ? say.practice : s.trials ? `${s.trial} / ${s.trials}` : "–";
  $("now").textContent = say[s.now] ?? s.now ?? "–";
  $("next").textContent = s.next ?? "–";
  $("dropped").textContent = s.dropped;
  $("answers").textContent = s.answers.length ? s.answers.slice(-12).join(" · ") : "–";
  $("operators").textContent = s.operators;
  $("message").textContent = s.message ?? "";
  $("log").replaceChildren(...s.messages.slice(0).reverse().map(([at, text]) => {
    const item = document.createElement("li");
    item.textContent = `${at}  ${text}`;
    return item;
  }));
  for (const button of document.querySelectorAll("[data-command]")) {
    const { command } = button.dataset;
    button.disabled = command === "start" ? s.running || !s.stimulus || (s.flickers && !s.confirmed) : command !== "patch" && !s.running;
  }
  $("stream").textContent = s.stream ?? say.no_stream;
});
link.on("closed", () => { $("message").textContent = say.unreachable; });

link.on("traces", ({ channels, rate, data, hints }) => {
  if (!trace || trace.channels.join() !== channels.join()) trace = { channels, rate, rows: channels.map(() => []) };
  trace.rate = rate;
  data.forEach((row, k) => { trace.rows[k].push(...row); trace.rows[k].splice(0, Math.max(0, trace.rows[k].length - rate * windowS)); });
  $("hints").textContent = hints.map(([kind, names]) => `${say[kind] ?? kind}: ${names}`).join("  ·  ");
});

function draw() {
  const canvas = $("traces");
  const ratio = window.devicePixelRatio || 1;
  canvas.width = canvas.clientWidth * ratio;
  canvas.height = 420 * ratio;
  const pen = canvas.getContext("2d");
  pen.scale(ratio, ratio);
  pen.fillStyle = "#8b949e";
  if (!trace) {
    pen.font = '16px system-ui, "Noto Sans CJK SC"';
    pen.textAlign = "center";
    pen.fillText(say.no_samples, canvas.clientWidth / 2, 210);
  } else {
    const gap = 420 / trace.channels.length;
    pen.font = "12px system-ui";
    trace.rows.forEach((row, k) => {
      const middle = gap * (k + 0.5);
      const mean = row.reduce((a, b) => a + b, 0) / Math.max(row.length, 1);
      pen.fillStyle = "#8b949e";
      pen.fillText(trace.channels[k], 4, middle + 4);
      pen.strokeStyle = "#58a6ff";
      pen.beginPath();
      row.forEach((v, i) => {
        const [x, y] = [46 + (i / (trace.rate * windowS)) * (canvas.clientWidth - 52), middle - ((v - mean) / 100) * gap];
        i ? pen.lineTo(x, y) : pen.moveTo(x, y);
      });
      pen.stroke();
    });
  }
  requestAnimationFrame(draw);
}
draw();
