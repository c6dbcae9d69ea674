// A text measured three ways: in UTF-16 units, as the browser counts; in code points, as error
// spans are stored; and in grapheme clusters, which nothing here ever cuts.

// Written without blanks: nothing but a dictionary knows where a word ends.
const UNSPACED = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]/u;

/** Ends of the pieces of a text, 0 included; one cluster, or one word with what follows, each. */
function edges(text, language, granularity) {
  const pieces = [...segmenter(language, granularity).segment(text)];
  const starts = pieces
    .filter((piece, number) => granularity === "grapheme" || number === 0 || piece.isWordLike)
    .map((piece) => piece.index);
  return [...new Set([0, ...starts, text.length])];
}

function segmenter(language, granularity) {
  try {
    return new Intl.Segmenter(language || undefined, { granularity });
  } catch {
    return new Intl.Segmenter(undefined, { granularity });
  }
}

export function measure(text, language) {
  const clusters = edges(text, language, "grapheme");
  const words = edges(text, language, "word");
  const pieces = [...segmenter(language, "word").segment(text)];

  const before = (list, unit) => list.findLast((edge) => edge < unit) ?? 0;
  const after = (list, unit) => list.find((edge) => edge > unit) ?? text.length;

  /** The whole clusters that a stretch touches, without blanks around them; null for none. */
  function snap(one, other) {
    let [start, end] = [Math.min(one, other), Math.max(one, other)];
    if (start === end) return null;
    start = clusters.findLast((edge) => edge <= start);
    end = clusters.find((edge) => edge >= end);
    const trimmed = text.slice(start, end);
    if (!trimmed.trim()) return { start, end };
    const from = start + trimmed.length - trimmed.trimStart().length;
    const to = end - (trimmed.length - trimmed.trimEnd().length);
    // A blank may carry a combining mark, and is then no blank.
    return {
      start: clusters.includes(from) ? from : start,
      end: clusters.includes(to) ? to : end,
    };
  }

  /** The one cluster at a place. */
  const clusterAt = (unit) => ({ start: before(clusters, unit + 1), end: after(clusters, unit) });

  /**
   * Return the word at a position, or the cluster where there is no word. A double click selects a
   * word as a dictionary has it, and never the blank behind it.
   */
  function wordAt(unit, isDouble) {
    const piece = pieces.findLast((each) => each.index <= unit && (!isDouble || each.segment.trim()));
    const isWord = isDouble ? piece : piece?.isWordLike && !UNSPACED.test(piece.segment);
    if (!isWord) return clusterAt(unit);
    return { start: piece.index, end: piece.index + piece.segment.length };
  }

  /** The whole words that a stretch touches. */
  function wordsOf(one, other) {
    const touched = snap(one, other);
    if (!touched) return null;
    return snap(wordAt(touched.start).start, wordAt(touched.end - 1).end);
  }

  return {
    text,
    snap,
    clusterAt,
    wordAt,
    wordsOf,
    // What lies behind the text counts one each, as special tokens do.
    toPoint: (unit) => [...text.slice(0, unit)].length + Math.max(0, unit - text.length),
    toUnit(point) {
      const points = [...text];
      const behind = Math.max(0, point - points.length);
      return points.slice(0, point).join("").length + behind;
    },
    /** The next place for a caret: `step` is 1 or -1. */
    move(unit, step, isWord) {
      return (step > 0 ? after : before)(isWord ? words : clusters, unit);
    },
  };
}
