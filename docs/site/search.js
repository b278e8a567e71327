// Searches the sections of the pages, which search_index.js holds as [page, heading, address, text, weight].
"use strict";
(() => {
  // The list of pages is open beside the text, and folded above it.
  const beside = matchMedia("(min-width: 801px)"), pages = document.querySelector("nav details");
  const fold = () => pages.open = beside.matches;
  beside.addEventListener("change", fold);
  fold();

  const MOST = 12;

  // A word without its plural, so that "index" finds "indexes".
  const stem = word => word.length > 4 && /(x|ch|sh|ss)es$/.test(word) ? word.slice(0, -2)
    : word.length > 4 && word.endsWith("ies") ? word.slice(0, -3) + "y"
    : word.length > 3 && word.endsWith("s") && !word.endsWith("ss") ? word.slice(0, -1) : word;
  const words = text => (text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) || []).map(stem);

  let sections;
  const prepare = () => sections = window.searchIndex.map(([page, heading, address, text, weight]) =>
    ({page, heading, address, text, weight, inPage: words(page), inHeading: words(heading), inText: words(text)}));

  // The last word may be unfinished. 0 if a word is missing.
  const score = (section, asked) => {
    let sum = 0;
    for (let index = 0; index < asked.length; ++index) {
      const last = index + 1 === asked.length, word = asked[index];
      const count = list => list.reduce((n, each) => n + (each === word ? 1 : last && word.length > 1 && each.startsWith(word) ? 0.4 : 0), 0);
      const found = 14 * Math.min(1, count(section.inHeading)) + 8 * Math.min(1, count(section.inPage)) + Math.min(6, count(section.inText));
      if (found === 0) return 0;
      sum += found;
    }
    const phrase = asked.join(" "), holds = list => (" " + list.join(" ") + " ").includes(" " + phrase + " ");
    sum += (holds(section.inHeading) ? 20 : 0) + (holds(section.inPage) ? 14 : 0) + (holds(section.inText) ? 8 : 0);
    if (section.inHeading.join(" ") === phrase) sum += 20;
    return sum * section.weight;
  };

  window.findSections = query => {
    if (!sections) prepare();
    const asked = words(query);
    if (asked.length === 0) return [];
    return sections.map(section => [score(section, asked), section]).filter(([points]) => points > 0)
      .sort((a, b) => b[0] - a[0]).slice(0, MOST).map(([, section]) => section);
  };

  // The text around the first word that was asked for, with these words marked. Made of text nodes: pages hold "<" in code.
  const excerpt = (text, asked) => {
    const shown = document.createElement("small");
    const parts = text.split(/([\p{L}\p{N}_]+)/u), hit = part => asked.includes(stem(part.toLowerCase()));
    const first = Math.max(0, parts.findIndex(hit) - 12);
    if (first > 0) shown.append("... ");
    for (const part of parts.slice(first, first + 60)) {
      if (hit(part)) {
        const mark = document.createElement("mark");
        mark.textContent = part;
        shown.append(mark);
      } else shown.append(part);
    }
    return shown;
  };

  const input = document.querySelector(".search input"), list = document.querySelector(".found");
  const root = document.body.dataset.root;
  const show = () => {
    const asked = words(input.value);
    list.replaceChildren();
    list.hidden = asked.length === 0;
    const found = window.findSections(input.value);
    for (const section of found) {
      const item = document.createElement("li"), link = document.createElement("a");
      link.href = root + section.address;
      link.append(section.heading === section.page ? section.page : section.page + ": " + section.heading, excerpt(section.text, asked));
      item.append(link);
      list.append(item);
    }
    if (found.length === 0 && asked.length > 0) {
      const item = document.createElement("li");
      item.className = "nothing";
      item.textContent = "Nothing was found.";
      list.append(item);
    }
  };
  input.addEventListener("input", show);
  input.addEventListener("keydown", event => {
    const first = list.querySelector("a");
    if (event.key === "Enter" && first) location.href = first.href;
    if (event.key === "Escape") { input.value = ""; show(); }
    if (event.key === "ArrowDown" && first) { event.preventDefault(); first.focus(); }
  });
  list.addEventListener("keydown", event => {
    const links = [...list.querySelectorAll("a")], at = links.indexOf(document.activeElement);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      (links[at + (event.key === "ArrowDown" ? 1 : -1)] || input).focus();
    }
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && document.activeElement !== input) { event.preventDefault(); input.focus(); }
  });
})();
