// Clocks since a card came: how long the page was in sight, how long somebody was at work, and how
// long nobody was there. At work is in sight and not longer than 30 seconds after a key, a
// pointer, a scroll or an input. After a while without any, which is the campaign's, the page asks;
// where there is no answer, time is idle from half a minute later on until somebody is back.

const IDLE_MS = 30_000, GRACE_MS = 30_000, NOTICE_MS = 60_000;

/**
 * `on` hears: `ask()`, `leave()`, `back(idle)` with the milliseconds that were idle, and
 * `near(left)`, a minute before the limit of a card (before half of a short one) and at it.
 */
export function makeClock(on, askMs) {
  const ASK_MS = askMs, LEAVE_MS = askMs + GRACE_MS;
  let began = 0, limit = 0, limitTimer = 0;
  let visible = 0, active = 0, idle = 0, since = 0, until = 0, isCounting = false;
  let touched = 0, timer = 0, isAsked = false, isOff = false;

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

  const idleAt = (now) => Math.max(0, now - touched - LEAVE_MS);

  function touch() {
    const now = count();
    until = now + IDLE_MS;
    if (isOff) return;
    const away = idleAt(now);
    idle += away;
    touched = now;
    if (isAsked) on.back(away);
    isAsked = false;
  }

  /** One timer at a time, which looks when the last sign of somebody was. */
  function watch() {
    clearTimeout(timer);
    if (isOff) return;
    const quiet = performance.now() - touched;
    if (quiet >= ASK_MS && !isAsked) {
      isAsked = true;
      on.ask();
    }
    if (quiet >= LEAVE_MS && isAsked) on.leave();
    const next = quiet < ASK_MS ? ASK_MS : LEAVE_MS;
    timer = setTimeout(watch, quiet < next ? next - quiet : ASK_MS);
  }

  function update() {
    count();
    isCounting = !document.hidden;
    if (isCounting) touch();
  }

  /** Time to come until so much of the card's is used; idle time does not use it up. */
  function watchLimit() {
    clearTimeout(limitTimer);
    if (!limit || isOff) return;
    const now = performance.now();
    const left = limit - (now - began - idle - idleAt(now));
    const notice = Math.min(NOTICE_MS, limit / 2);
    if (left <= notice) on.near(Math.max(0, left));
    if (left > 0) limitTimer = setTimeout(watchLimit, left > notice ? left - notice : left);
  }

  /** A new card came, which is work to look at; `seconds` of it are paid at most. */
  function restart(seconds = limit / 1000) {
    visible = active = idle = 0;
    since = touched = performance.now();
    until = since + IDLE_MS;
    isCounting = !document.hidden;
    isAsked = isOff = false;
    [began, limit] = [since, seconds * 1000];
    watch();
    watchLimit();
  }

  for (const type of ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "input"]) {
    window.addEventListener(type, touch, { capture: true, passive: true });
  }
  document.addEventListener("visibilitychange", update);
  restart();

  return {
    restart,
    touch,
    pause() {
      count();
      isCounting = false;
      isOff = true;
    },
    read() {
      const now = count();
      const rest = isOff ? 0 : idleAt(now);
      return {
        visible_ms: Math.round(visible), active_ms: Math.round(active),
        idle_ms: Math.round(idle + rest),
      };
    },
  };
}
