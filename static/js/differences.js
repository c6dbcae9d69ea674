// Where the texts of a row differ: words that not all of them have, tinted on demand.

const NAME = "differs";

function wordsOf(element) {
  const segmenter = new Intl.Segmenter(element.lang || undefined, { granularity: "word" });
  const words = [...segmenter.segment(element.textContent)].filter((piece) => piece.isWordLike);
  return words.map(({ segment, index }) => ({ word: segment.toLowerCase(), index, segment }));
}

/** How often each word occurs in all of the texts. */
function shared(texts) {
  const counts = texts.map((words) => {
    const count = new Map();
    for (const { word } of words) count.set(word, (count.get(word) ?? 0) + 1);
    return count;
  });
  return (word) => Math.min(...counts.map((count) => count.get(word) ?? 0));
}

function rangeOf(element, start, end) {
  const range = document.createRange();
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  let before = 0;
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const after = before + node.length;
    if (start >= before && start < after) range.setStart(node, start - before);
    if (end > before && end <= after) range.setEnd(node, end - before);
    before = after;
  }
  return range;
}

function rangesOf(row) {
  const elements = [...row.querySelectorAll("[data-cell] .text")];
  if (elements.length < 2) return [];
  const texts = elements.map(wordsOf);
  const common = shared(texts);
  return texts.flatMap((words, number) => {
    const seen = new Map();
    return words.filter(({ word }) => {
      seen.set(word, (seen.get(word) ?? 0) + 1);
      return seen.get(word) > common(word);
    }).map(({ index, segment }) => rangeOf(elements[number], index, index + segment.length));
  });
}

/** What the button of a sheet shows, as a highlight of the browser: no text is changed. */
export function makeDifferences(root) {
  const button = root.querySelector("[data-differences]");
  let isOn = false;

  function draw() {
    const rows = isOn ? [...root.querySelectorAll("[data-row]")] : [];
    CSS.highlights.set(NAME, new Highlight(...rows.flatMap(rangesOf)));
  }

  let waiting = 0;
  return {
    toggle() {
      isOn = !isOn;
      button.setAttribute("aria-pressed", String(isOn));
      draw();
    },
    /** Marks are drawn anew, so these have to be as well. */
    follow() {
      if (!isOn) return;
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(draw);
    },
  };
}
