// Search, the theme, and a button to copy code. No library: the whole handbook is searched as text, so that Chinese
// needs no word boundaries.
const script = document.currentScript;
const query = document.getElementById("query");
const found = document.getElementById("found");
const chinese = document.documentElement.lang.startsWith("zh");
const HAN = /\p{Script=Han}/u;
const MOST = 12;

function theme() {
  const kept = document.cookie.match(/(?:^|; )theme=(light|dark)/);
  if (kept) document.documentElement.dataset.theme = kept[1];
  document.getElementById("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    document.cookie = `theme=${root.dataset.theme};path=/;max-age=31536000;samesite=lax`;
  });
}

// A Chinese word that is not found as a whole counts by its pairs of characters.
function termsOf(text) {
  return text.toLowerCase().split(/\s+/).filter(Boolean);
}

function pairs(term) {
  return [...term].slice(1).map((character, at) => [...term][at] + character);
}

function times(text, term) {
  if (HAN.test(term)) return text.split(term).length - 1;
  let count = 0;
  for (let at = text.indexOf(term); at >= 0 && count < 20; at = text.indexOf(term, at + 1)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1]) || HAN.test(text[at - 1])) count++;
  }
  return count;
}

function worth(section, term) {
  return 10 * times(section.title, term) + Math.min(5, times(section.text, term));
}

function search(sections, text) {
  const terms = termsOf(text);
  const results = [];
  for (const section of sections) {
    let sum = 0;
    const all = terms.every((term) => {
      let value = worth(section, term);
      if (!value && HAN.test(term) && term.length > 2) {
        const values = pairs(term).map((pair) => worth(section, pair));
        value = values.every(Boolean) ? Math.min(...values) / 2 : 0;
      }
      sum += value;
      return value > 0;
    });
    if (all && terms.length) results.push([sum, section]);
  }
  return results.sort((a, b) => b[0] - a[0]).map((pair) => pair[1]);
}

function excerpt(section, terms) {
  const lower = section.text;
  const hits = terms.flatMap((term) => [term, ...(HAN.test(term) ? pairs(term) : [])]);
  const at = Math.max(0, Math.min(...hits.map((hit) => lower.indexOf(hit)).filter((place) => place >= 0), lower.length) - 40);
  const line = document.createElement("small");
  let rest = section.shown.slice(at, at + 170);
  line.append(at ? "… " : "");
  while (rest) {
    const next = hits.map((hit) => [rest.toLowerCase().indexOf(hit), hit]).filter(([place]) => place >= 0).sort((a, b) => a[0] - b[0])[0];
    if (!next) break;
    const mark = document.createElement("mark");
    mark.textContent = rest.slice(next[0], next[0] + next[1].length);
    line.append(rest.slice(0, next[0]), mark);
    rest = rest.slice(next[0] + next[1].length);
  }
  line.append(rest);
  return line;
}

let loading = null;
function index() {
  loading ??= new Promise((resolve, reject) => {
    const part = document.createElement("script");
    part.src = script.dataset.index;
    part.onload = () => {
      const titles = {};
      for (const [place, title] of window.handbook) if (!place.includes("#")) titles[place] = title;
      resolve(window.handbook.map(([place, title, text]) => {
        const page = titles[place.split("#")[0]];
        return { place, page, name: title, shown: text, title: title.toLowerCase(), text: text.toLowerCase() };
      }));
    };
    part.onerror = reject;
    document.head.append(part);
  });
  return loading;
}

async function show() {
  const text = query.value.trim();
  found.hidden = !text;
  if (!text) return;
  const results = search(await index(), text);
  if (text !== query.value.trim()) return;
  const head = document.createElement("strong");
  head.textContent = results.length ? `${results.length} ${found.dataset.count}` : `${found.dataset.none}${chinese ? "：" : " "}${text}`;
  const list = document.createElement("ol");
  for (const section of results.slice(0, MOST)) {
    const item = document.createElement("li");
    const link = document.createElement("a");
    link.href = script.dataset.home + section.place;
    link.textContent = section.page === section.name ? section.name : `${section.page} › ${section.name}`;
    item.append(link, excerpt(section, termsOf(text)));
    list.append(item);
  }
  found.replaceChildren(head, list);
}

query.addEventListener("focus", index);
query.addEventListener("input", show);
document.getElementById("find").addEventListener("submit", async (event) => {
  event.preventDefault();
  await show();
  found.querySelector("a")?.click();
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
    event.preventDefault();
    query.focus();
  } else if (event.key === "Escape") {
    query.value = "";
    found.hidden = true;
  }
});

for (const block of document.querySelectorAll("main .code")) {
  if (!navigator.clipboard) break;
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet";
  button.textContent = chinese ? "复制" : "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(block.querySelector("pre").textContent.trimEnd() + "\n");
    button.textContent = "✓";
  });
  block.append(button);
}

// What is wider than its frame can be scrolled by keyboard; the rest is no stop on the way.
const reachable = new ResizeObserver((all) => all.forEach(({ target }) => {
  if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
  else target.removeAttribute("tabindex");
}));
document.querySelectorAll("main pre, main .scroll").forEach((item) => reachable.observe(item));
theme();
