// Items fetched by their address: one's own, those of Back and Forward, and one anew.

import * as ahead from "./ahead.js";
import { find } from "./pages.js";
import { ask } from "./send.js";

/** `page` can `show(html)` an item and `complain()` that one is out of reach. */
export function makeVisits(page) {
  /** Fetch an item; where the server is out of reach, as it is kept here. */
  async function bring(wanted) {
    const { status, data } = await ask(wanted);
    return { status, html: data.html ?? (ahead.isOutOfReach(status) && await find(wanted)) };
  }

  /** Show what came; false if nothing did that can be shown here. */
  function take({ status, html }) {
    if (html) {
      ahead.forget();
      page.show(html);
    } else if (status === 0) page.complain();
    else return false;
    return true;
  }

  /** One of the own items: what was entered here stays in the browser. */
  async function visit(wanted) {
    const reply = await bring(wanted);
    if (reply.html) history.pushState(null, "", wanted);
    if (!take(reply)) window.location.assign(wanted);
  }

  document.addEventListener("click", (event) => {
    const link = event.target.closest("#own a, #item .back");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    visit(link.pathname);
  });

  return {
    /** Back and Forward: the address has changed already, the item follows. */
    async follow() {
      const wanted = window.location.pathname;
      const reply = await bring(wanted);
      if (wanted === window.location.pathname && !take(reply)) window.location.reload();
    },
  };
}

/** Put hidden fields as they would be now in place: those whose names end so, or all of them. */
export async function refresh(sheet, ending) {
  const { status, data } = await ask(sheet.path);
  if (status !== 200 || !data.html) return;
  const forms = [...new DOMParser().parseFromString(data.html, "text/html").forms];
  const action = sheet.form.getAttribute("action");
  const form = forms.find((each) => each.getAttribute("action") === action);
  for (const name of ["submit_key", "revision", "started"].filter((n) => n.endsWith(ending))) {
    for (const field of form?.querySelectorAll(`[name$=${name}]`) ?? []) {
      sheet.renew({ [field.name]: field.value });
    }
  }
  sheet.complain("");
  sheet.save();
}
