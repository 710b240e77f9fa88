"use strict";
// Search, folding, themes, links to entries and the list of contents. It only writes text, never markup.
const byId = (id) => document.getElementById(id);
const root = document.documentElement, main = byId("main"), box = byId("search"), said = byId("hits");
const UNITS = "section, .row", MOST_SHOWN = 2000, MOST_HITS = 100000, SLICE_MS = 12;
const paints = "highlights" in CSS;
const number = (value) => value.toLocaleString("en");
const folds = () => main.querySelectorAll("details");
let hits = [], count = 0, at = -1, job = 0, timer = 0, chosen = false;

// ---- search: every text of the page, in slices, so that typing never waits ----

function find() {
  const mine = ++job, words = box.value.trim();
  const marked = new Set();
  const pattern = new RegExp(words.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replace(/\s+/g, "\\s+"), "giu");
  const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
  hits = [];
  count = 0;
  at = -1;
  paint();
  if (!words) {
    said.textContent = "";
    showOnly(null);
    return;
  }
  const slice = () => {
    if (mine !== job) return;
    const until = performance.now() + SLICE_MS;
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      const before = count;
      pattern.lastIndex = 0;
      for (let match; (match = pattern.exec(node.data)); ) {
        if (++count <= MOST_HITS) hits.push([node, match.index, match.index + match[0].length]);
      }
      if (count > before) {
        for (let unit = node.parentElement.closest(UNITS); unit; unit = unit.parentElement.closest(UNITS)) marked.add(unit);
      }
      if (performance.now() > until) {
        said.textContent = "searching…";
        setTimeout(slice, 0);
        return;
      }
    }
    said.textContent = count === 1 ? "1 match" : count ? number(count) + " matches" : "no matches";
    showOnly(marked);
    paint();
  };
  slice();
}

function showOnly(marked) {
  const isOnly = byId("only").checked && marked !== null;
  if (isOnly || main.classList.contains("only")) {
    for (const unit of main.querySelectorAll(UNITS)) {
      unit.classList.add("unit");
      unit.classList.toggle("hit", isOnly && marked.has(unit));
    }
  }
  main.classList.toggle("only", isOnly);
}

function rangeOf([node, start, end]) {
  const range = new Range();
  range.setStart(node, start);
  range.setEnd(node, end);
  return range;
}

function paint() {
  if (!paints) return;
  CSS.highlights.delete("hit");
  CSS.highlights.delete("now");
  const first = Math.max(0, Math.min(at - MOST_SHOWN / 2, hits.length - MOST_SHOWN));
  const near = hits.slice(first, first + MOST_SHOWN);
  if (near.length) CSS.highlights.set("hit", new Highlight(...near.map(rangeOf)));
  if (at >= 0) CSS.highlights.set("now", new Highlight(rangeOf(hits[at])));
}

function go(step) {
  if (!hits.length) return;
  at = at < 0 ? (step > 0 ? 0 : hits.length - 1) : (at + step + hits.length) % hits.length;
  const [node] = hits[at];
  reveal(node.parentElement);
  said.textContent = number(at + 1) + " of " + number(count);
  paint();
  requestAnimationFrame(() => {
    const place = rangeOf(hits[at]).getBoundingClientRect();
    if (place.top < 120 || place.bottom > innerHeight) scrollBy(0, place.top - innerHeight / 2);
  });
}

function reveal(element) {
  for (let fold = element.closest("details"); fold; fold = fold.parentElement.closest("details")) {
    if (!element.closest("summary") || element.closest("summary").parentElement !== fold) fold.open = true;
  }
  element.scrollIntoView({ block: "center" });
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(find, 150);
}

// ---- links to entries, folding, themes, printing ----

function follow() {
  const found = byId(location.hash.slice(1));
  if (!found || !main.contains(found)) return;
  if (found.matches("details")) found.open = true;
  reveal(found);
  const summary = found.querySelector("summary");
  if (summary && found.matches("details")) summary.focus({ preventScroll: true });
}

function foldAll(isOpen) {
  chosen = true;
  for (const one of folds()) one.open = isOpen;
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
const showTheme = () => byId("theme").setAttribute("aria-pressed", String(isDark()));

let unfolded = [];
addEventListener("beforeprint", () => {
  // What was folded by hand is printed as it is; otherwise everything but the bodies of messages: a book.
  unfolded = chosen ? [] : [...main.querySelectorAll("details:not([open], .row)")];
  for (const one of unfolded) one.open = true;
});
addEventListener("afterprint", () => {
  for (const one of unfolded) one.open = false;
});

// ---- keys: / n N, enter in the field, arrows from line to line ----

function step(from, by) {
  const lines = [...main.querySelectorAll("summary")].filter((one) => one.checkVisibility());
  const next = lines[lines.indexOf(from) + by];
  if (next) next.focus();
}

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const key = event.key, line = event.target.closest("summary");
  if (event.target === box) {
    if (key === "Enter") go(event.shiftKey ? -1 : 1);
    else if (key === "Escape") {
      box.value = "";
      find();
      main.focus();
    } else return;
  } else if (event.target.matches("input[type=text], textarea")) return;
  else if (key === "/") box.focus();
  else if (key === "n") go(1);
  else if (key === "N") go(-1);
  else if (line && (key === "ArrowDown" || key === "ArrowUp")) step(line, key === "ArrowDown" ? 1 : -1);
  else return;
  event.preventDefault();
});
main.addEventListener("click", (event) => {
  if (event.target.closest("summary")) chosen = true;
});
box.addEventListener("input", later);
byId("only").addEventListener("change", find);
byId("next").addEventListener("click", () => go(1));
byId("previous").addEventListener("click", () => go(-1));
byId("unfold").addEventListener("click", () => foldAll(true));
byId("fold").addEventListener("click", () => foldAll(false));
byId("theme").addEventListener("click", () => {
  root.dataset.theme = isDark() ? "light" : "dark";
  showTheme();
});
dark.addEventListener("change", showTheme);
addEventListener("hashchange", follow);

// ---- the list of contents ----

const places = [...main.querySelectorAll("section[id], details.bad")];
if (places.length > 1) {
  const list = document.querySelector("nav ol");
  for (const section of places) {
    if (section.matches("details")) {
      list.querySelector("li:last-child a")?.classList.add("bad");
      continue;
    }
    const link = document.createElement("a"), item = document.createElement("li");
    const words = section.querySelector(":scope > .said");
    const head = section.querySelector("h2");
    const number = head.querySelector(".n");
    link.href = "#" + section.id;
    link.dir = "auto";
    link.textContent = words ? number.textContent + " " + words.textContent.trim().slice(0, 80) : head.textContent;
    item.append(link);
    list.append(item);
  }
  document.querySelector("nav").hidden = false;
  document.body.classList.add("indexed");
}
document.querySelector(".tools").hidden = false;
showTheme();
// The browser goes to the place itself after this script, and takes the focus away.
addEventListener("load", () => setTimeout(follow, 0));
