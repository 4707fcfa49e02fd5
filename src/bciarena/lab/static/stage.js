// Starts the player on the contest's own stage.
import { Link } from "./link.js";
import { Player } from "./player.js";

const canvas = document.getElementById("stage");
const { Stage } = await import(document.body.dataset.stage);
const stage = new Stage(canvas);
const player = new Player(new Link("stimulus"), stage);
canvas.addEventListener("dblclick", () => document.documentElement.requestFullscreen?.());
window.lab = { stage, player }; // for tests and the console
