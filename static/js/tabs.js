// A line of tabs that scrolls sideways begins at the tab of this page, also in browsers that do not
// know scroll-initial-target; and a tab in focus is seen whole: browsers stop where a part of it is.

function bring(tab) {
  tab.scrollIntoView({ block: "nearest", inline: "nearest" });
}

for (const tab of document.querySelectorAll(".tabs a[aria-current]")) bring(tab);
for (const line of document.querySelectorAll(".tabs")) {
  line.addEventListener("focusin", (event) => bring(event.target));
}
