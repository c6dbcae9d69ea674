// What a screen does without at first. It is fetched when that works, and then needs no connection.

import * as ahead from "./ahead.js";
import * as around from "./around.js";
import * as beside from "./beside.js";
import { makeOwn } from "./own.js";
import * as pages from "./pages.js";
import * as visits from "./visits.js";

export { ahead, around, beside, makeOwn, pages, visits };
