// Follows what is going on: states of submissions on any page, and a board that moves.

import { localTimes, sortable } from "./site.js";

const RESTING = new Set(["scored", "failed", "cancelled"]);

async function follow(item) {
  let wait = 700;
  while (!RESTING.has(item.dataset.state) || item.dataset.settled === "no") {
    await new Promise((done) => setTimeout(done, document.hidden ? 5000 : wait));
    let news;
    try {
      const answer = await fetch(`/runs/${item.dataset.submission}/state`, { headers: { accept: "application/json" } });
      if (answer.status === 404 || answer.status === 401) return;
      if (!answer.ok) throw new Error(answer.statusText);
      news = await answer.json();
      wait = news.state === "queued" ? 1500 : 700;
    } catch {
      wait = Math.min(wait * 2, 15000); // the server is away: ask less often until it is back
      continue;
    }
    show(item, news);
  }
  if (item.dataset.reload !== undefined) location.reload();
}

function show(item, news) {
  item.dataset.state = news.state;
  item.dataset.settled = news.settled ? "yes" : "no"; // the result follows the end of a run by a moment
  const badge = item.querySelector(".state");
  badge.className = `state ${news.state}`;
  badge.textContent = news.state_text;
  const bar = item.querySelector("progress");
  if (bar) {
    bar.hidden = news.state !== "running";
    if (news.progress) bar.value = news.progress.share;
  }
  const words = item.querySelector(".words");
  if (words) words.textContent = news.words;
  const score = item.querySelector(".score");
  if (score && news.score !== null) score.textContent = news.score_text;
}

async function watchBoard(board) {
  let revision = board.dataset.revision;
  for (;;) {
    await new Promise((done) => setTimeout(done, document.hidden ? 20000 : 2500));
    try {
      const answer = await fetch(board.dataset.watch);
      if (!answer.ok) continue;
      const news = await answer.json();
      if (String(news.revision) === revision) continue;
      revision = String(news.revision);
      const page = await (await fetch(location.href)).text();
      const fresh = new DOMParser().parseFromString(page, "text/html").getElementById("board");
      if (fresh) move(board, fresh);
    } catch {
      // the server is away: the next round asks again
    }
  }
}

function markMine(board) {
  const mine = new Set(board.dataset.mine.split(" "));
  board.querySelectorAll("tr[data-team]").forEach((row) => row.classList.toggle("mine", mine.has(row.dataset.team)));
}

function move(board, fresh) {
  const before = new Map([...board.querySelectorAll("tr[data-team]")].map((row) => [row.dataset.team, row.getBoundingClientRect().top]));
  board.replaceChildren(...fresh.childNodes);
  board.querySelectorAll("table").forEach(sortable);
  localTimes(board);
  markMine(board);
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  board.querySelectorAll("tr[data-team]").forEach((row) => {
    const old = before.get(row.dataset.team);
    const now = row.getBoundingClientRect().top;
    const from = old === undefined ? [{ opacity: 0 }, { opacity: 1 }] : [{ transform: `translateY(${old - now}px)` }, { transform: "none" }];
    if (old === undefined || old !== now) row.animate(from, { duration: 600, easing: "ease-out" });
  });
}

document.querySelectorAll("[data-submission]").forEach(follow);
const board = document.getElementById("board");
if (board) markMine(board);
if (board?.dataset.watch) watchBoard(board);
