// Talking to the server: every outcome, also none at all, becomes one plain object.

const PATIENCE_MS = 20_000;

/** The present CSRF token: signing in, also in another tab, changes it. */
function csrfToken() {
  return document.cookie.match(/(?:^|;\s*)(?:__Host-)?csrftoken=([^;]+)/)?.[1] ?? "";
}

/**
 * Fetch `url` as JSON; with `fields`, post them.
 * Returns {status, data}, where status 0 means that no answer came; `late` tells a timeout.
 */
export async function ask(url, fields) {
  const request = { headers: { Accept: "application/json" } };
  request.signal = AbortSignal.timeout(PATIENCE_MS);
  if (fields) {
    request.method = "POST";
    request.body = new URLSearchParams(fields);
    request.headers["X-CSRFToken"] = csrfToken();
  }
  try {
    const response = await fetch(url, request);
    return { status: response.status, data: await json(response) };
  } catch (error) {
    return { status: 0, late: error.name === "TimeoutError", data: {} };
  }
}

async function json(response) {
  const is = response.headers.get("Content-Type")?.includes("application/json");
  return is ? response.json() : {};
}

/** Post with a CSRF cookie that exists: a page left open can outlive it. */
export async function submit(url, fields) {
  const lost = !csrfToken() && await ask(url);
  return lost.status === 401 ? lost : ask(url, fields);
}
