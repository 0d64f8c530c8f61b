// Light or dark: as it was chosen in this browser, else as the system says. `theme.js` sets it before anything is drawn.

const KEY = "kl.theme";
const DARK = matchMedia("(prefers-color-scheme: dark)");

export const chosenTheme = () => localStorage.getItem(KEY) ?? "";

/** @param {string} wanted "light", "dark", or "" for the system's */
export function chooseTheme(wanted) {
  if (wanted) localStorage.setItem(KEY, document.documentElement.dataset.theme = wanted);
  else {
    localStorage.removeItem(KEY);
    delete document.documentElement.dataset.theme;
  }
  document.dispatchEvent(new Event("kl:theme"));
}

export const toggleTheme = () => chooseTheme((document.documentElement.dataset.theme ?? (DARK.matches ? "dark" : "light")) === "dark" ? "light" : "dark");

/** What a colour of the stylesheet is now. @param {string} name without dashes */
export const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Calls `draw` whenever the colours change. @param {() => void} draw @returns {() => void} ends that */
export function onTheme(draw) {
  const until = new AbortController();
  document.addEventListener("kl:theme", draw, until);
  DARK.addEventListener("change", draw, until);
  return () => until.abort();
}
