// A line of tabs that scrolls sideways begins at the tab of this page, also in browsers that do not
// know scroll-initial-target.

for (const tab of document.querySelectorAll(".tabs a[aria-current]")) {
  tab.scrollIntoView({ block: "nearest", inline: "nearest" });
}
