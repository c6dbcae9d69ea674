// Items fetched by their address: one's own, those of Back and Forward, and one anew.

import * as ahead from "./ahead.js";
import { ask } from "./send.js";

/** `page` can `show(html)` an item and `complain()` that one is out of reach. */
export function makeVisits(page) {
  /** Show what an answer brought; false if it brought nothing to be shown here. */
  function take({ status, data }) {
    if (status === 0) page.complain();
    else if (status !== 200 || !data.html) return false;
    else {
      ahead.forget();
      page.show(data.html);
    }
    return true;
  }

  return {
    /** One of the own items: what was entered here stays in the browser. */
    async visit(wanted) {
      const reply = await ask(wanted);
      if (reply.data.html) history.pushState(null, "", wanted);
      if (!take(reply)) window.location.assign(wanted);
    },
    /** Back and Forward: the address has changed already, the item follows. */
    async follow() {
      const wanted = window.location.pathname;
      const reply = await ask(window.location.href);
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
