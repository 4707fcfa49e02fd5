// Chooses the stage of the challenge and starts the player.
import { ImageryStage } from "./imagery.js";
import { Link } from "./link.js";
import { Player } from "./player.js";
import { SpellerStage } from "./speller.js";
import { TuringStage } from "./turing.js";

const stages = { speller: SpellerStage, turing: TuringStage };
const canvas = document.getElementById("stage");
const stage = new (stages[document.body.dataset.challenge] ?? ImageryStage)(canvas);
const player = new Player(new Link("stimulus"), stage);
canvas.addEventListener("dblclick", () => document.documentElement.requestFullscreen?.());
window.lab = { stage, player }; // for tests and the console
