// Small things every page shares: sorting tables, local times, the theme, whole links, and questions before acts.

const number = /^[-+−]?[\d.]+/;

function keyOf(row, column) {
  const cell = row.cells[column];
  if (!cell) return "";
  const text = cell.dataset.sort ?? cell.textContent.trim();
  return number.test(text) ? parseFloat(text.replace("−", "-")) : text;
}

function compare(a, b) {
  if (typeof a === "number" && typeof b === "number") return a - b;
  if (typeof a === "number") return -1;
  if (typeof b === "number") return 1;
  return a.localeCompare(b, document.documentElement.lang);
}

export function sortable(table) {
  table.querySelectorAll("thead th").forEach((head, column) => {
    if (head.dataset.plain !== undefined || head.querySelector("a, button") || !head.textContent.trim()) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      table.querySelectorAll("thead th").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const body = table.tBodies[0];
      const rows = [...body.rows].sort((x, y) => compare(keyOf(x, column), keyOf(y, column)));
      if (down) rows.reverse();
      body.append(...rows);
    });
  });
}

// A link that is passed on: the server does not trust what a request says its address is, the reader's browser knows it.
function wholeLinks() {
  document.querySelectorAll("[data-path]").forEach((item) => {
    if (item.textContent.startsWith("/")) item.textContent = location.origin + item.textContent;
  });
}

export function localTimes(root) {
  const language = document.documentElement.lang;
  const whole = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  // A board has many columns: the year is in the title.
  const brief = new Intl.DateTimeFormat(language, { month: "short", day: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
  root.querySelectorAll("time[datetime]").forEach((item) => {
    item.title = item.dateTime;
    item.textContent = (item.closest("#board") ? brief : whole).format(new Date(item.dateTime));
  });
}

function theme() {
  const button = document.getElementById("theme");
  button?.addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    document.cookie = `theme=${root.dataset.theme};path=/;max-age=31536000;samesite=lax`;
  });
}

// How long it still is: days, or hours and minutes.
function countdown(item) {
  const left = Number(item.dataset.until) * 1000 - Date.now();
  if (left <= 0) { item.textContent = ""; return; }
  const hours = Math.floor(left / 3600000);
  const two = (n) => String(Math.floor(n)).padStart(2, "0");
  item.textContent = hours >= 48 ? item.dataset.days.replace("{n}", Math.floor(hours / 24)) : `${hours}:${two(left / 60000 % 60)}:${two(left / 1000 % 60)}`;
  setTimeout(() => countdown(item), hours >= 48 ? 60000 : 1000);
}

// What is larger than its frame can be scrolled by keyboard; the rest is no stop on the way.
const reachable = new ResizeObserver((all) => all.forEach(({ target }) => {
  if (target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight) target.tabIndex = 0;
  else target.removeAttribute("tabindex");
}));
document.querySelectorAll("pre, .scroll").forEach((item) => reachable.observe(item));

document.querySelectorAll("table").forEach(sortable);
document.querySelectorAll("[data-until]").forEach(countdown);
localTimes(document);
wholeLinks();
theme();
document.addEventListener("submit", (event) => {
  const question = event.target.dataset.ask;
  if (question && !confirm(question)) event.preventDefault();
});
