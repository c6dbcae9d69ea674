/** What axe-core finds; `passed` are the looks of texts whose contrast has sufficed before. */
async ([options, passed]) => {
  const known = (window.sufficient ??= remembered());
  passed.forEach((each) => known.add(each));
  // A table's later rows are like those before them.
  const rows = { exclude: ["tbody tr:nth-child(n+9)"] };
  const { violations, passes } = await axe.run(rows, options);
  return {
    passed: passes.length,
    found: violations.flatMap((each) =>
      each.nodes.map((node) => `${each.id}: ${node.html.slice(0, 150)}`),
    ),
    contrast: [...known],
  };

  /** Two thirds of the time go into contrast: texts that look the same are measured once. */
  function remembered() {
    const known = new Set();
    const rule = axe._audit.rules.find(({ id }) => id === "color-contrast");
    const check = axe._audit.checks["color-contrast"];
    const { matches } = rule;
    const { evaluate } = check;
    rule.matches = function (node, ...rest) {
      return !known.has(look(node)) && matches.call(this, node, ...rest);
    };
    check.evaluate = function (node, ...rest) {
      const own = look(node);
      const result = known.has(own) || evaluate.call(this, node, ...rest);
      if (result === true && own) known.add(own);
      return result;
    };
    return known;
  }

  /** What decides about a text's contrast; nothing where more than its ancestors may lie behind. */
  function look(node) {
    const { color, fontSize, fontWeight, textShadow } = getComputedStyle(node);
    const seen = [color, fontSize, fontWeight, textShadow];
    let isOpaque = false;
    for (let at = node; at; at = at.parentElement) {
      const { backgroundColor, backgroundImage, opacity, position } = getComputedStyle(at);
      if (opacity !== "1") seen.push(opacity);
      if (isOpaque) continue;
      if (backgroundImage !== "none" || /absolute|fixed|sticky/.test(position)) return "";
      if (backgroundColor !== "rgba(0, 0, 0, 0)") seen.push(backgroundColor);
      isOpaque = backgroundColor.startsWith("rgb(");
    }
    return seen.join();
  }
};
