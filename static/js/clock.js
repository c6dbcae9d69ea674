// Two clocks since a card came: how long the page was in sight, and how long somebody was at work.
// At work is in sight and not longer than 30 seconds after a key, a pointer, a scroll or an input.

const IDLE_MS = 30_000;

export function makeClock() {
  let visible = 0, active = 0, since = 0, until = 0, isCounting = false;

  /** Count up to now. */
  function count() {
    const now = performance.now();
    if (isCounting) {
      visible += now - since;
      active += Math.max(0, Math.min(now, until) - since);
    }
    since = now;
    return now;
  }

  function touch() {
    until = count() + IDLE_MS;
  }

  function update() {
    count();
    isCounting = !document.hidden;
  }

  /** A new card came, which is work to look at. */
  function restart() {
    visible = active = 0;
    since = performance.now();
    until = since + IDLE_MS;
    isCounting = !document.hidden;
  }

  for (const type of ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "input"]) {
    window.addEventListener(type, touch, { capture: true, passive: true });
  }
  document.addEventListener("visibilitychange", update);
  restart();

  return {
    restart,
    pause() {
      count();
      isCounting = false;
    },
    read() {
      count();
      return { visible_ms: Math.round(visible), active_ms: Math.round(active) };
    },
  };
}
