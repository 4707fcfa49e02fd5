// Starts the player on the contest's own stage, and watches the page for what would spoil a trial.
import { Link } from "./link.js";
import { Player } from "./player.js";
import { SAID } from "./words.js";

const canvas = document.getElementById("stage");
const { Stage } = await import(document.body.dataset.stage);
const stage = new Stage(canvas);
const player = new Player(new Link("stimulus"), stage);
window.lab = { stage, player }; // for tests and the console

canvas.addEventListener("dblclick", () => document.documentElement.requestFullscreen?.());
window.addEventListener("keydown", (event) => { if (!event.repeat) player.key(); });
document.addEventListener("visibilitychange", () => {
  if (document.hidden) player.disturbed(SAID.hidden, { pause: true });
  else player.disturbed(SAID.visible, { spoils: false });
});
window.addEventListener("blur", () => player.disturbed(SAID.blur, { spoils: false }));
let size = [window.innerWidth, window.innerHeight, window.devicePixelRatio];
window.addEventListener("resize", () => {
  const now = [window.innerWidth, window.innerHeight, window.devicePixelRatio];
  const what = now[2] === size[2] ? SAID.resized : SAID.scaled;
  size = now;
  player.disturbed(`${what} ${now[0]} x ${now[1]}, ${now[2]}`);
});
document.addEventListener("fullscreenchange", () => {
  if (!document.fullscreenElement) player.disturbed(SAID.fullscreen_left);
});
