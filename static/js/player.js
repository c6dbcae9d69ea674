// Recordings beside texts: a key plays and pauses, one plays at a time, and how they were played
// goes with the answer.

const MOST = 1_000;
// A stretch of a recording is found before anybody plays it: that is no seeking.
const NEAR = 0.1;

/** Make the recordings of a sheet work; the `clock` hears that somebody listens. */
export function makePlayer(sheet, clock) {
  const began = performance.now();
  const players = [...sheet.root.querySelectorAll("[data-media]")].map((each) =>
    follow(each, sheet, began, clock));
  for (const hint of document.querySelectorAll("[data-play-key]")) hint.hidden = !players.length;

  return {
    /** Pause what plays, or play what is nearest to where work goes on. */
    toggle() {
      const playing = players.find((each) => !each.paused);
      if (playing) return playing.pause();
      const row = document.activeElement?.closest("[data-row]");
      const near = (row ?? sheet.root).querySelector("[data-media]") ?? players[0];
      near?.play().catch(() => {}); // The page says what could not be loaded.
    },
  };
}

function follow(player, sheet, began, clock) {
  const log = player.dataset.media && !sheet.isLocked ? logger(player, sheet.form, began) : () => {};
  player.addEventListener("play", () => {
    for (const other of document.querySelectorAll("[data-media]")) other === player || other.pause();
    log("play");
  });
  player.addEventListener("pause", () => log("pause"));
  player.addEventListener("seeked", () => log("seek"));
  player.addEventListener("timeupdate", () => player.paused || clock.touch());
  const section = player.closest("section") ?? player.parentElement;
  for (const button of section.querySelectorAll("[data-seek]")) {
    button.addEventListener("click", () => {
      player.currentTime = Number(button.dataset.seek);
      player.play().catch(() => {});
    });
  }
  const trouble = section.querySelector("[data-unplayable]");
  const tell = () => (trouble.hidden = !player.error);
  player.addEventListener("error", tell);
  player.addEventListener("loadedmetadata", tell);
  trouble.querySelector("button").addEventListener("click", () => player.load());
  tell();
  return player;
}

/** Write [milliseconds, what, second] into a hidden field of the form. */
function logger(player, form, began) {
  const field = document.createElement("input");
  field.type = "hidden";
  field.name = player.dataset.media;
  form.append(field);
  const start = Number(/#t=([\d.]+)/.exec(player.getAttribute("src"))?.[1] ?? 0);
  const events = [];
  return (what) => {
    const isFirst = !events.length && what === "seek" && Math.abs(player.currentTime - start) < NEAR;
    if (isFirst || events.length >= MOST) return;
    events.push([Math.round(performance.now() - began), what, Number(player.currentTime.toFixed(3))]);
    field.value = JSON.stringify(events);
  };
}
