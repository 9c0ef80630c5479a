// Runs before the first paint, so that neither a chosen theme nor the menu of a small screen flashes.
const root = document.documentElement
const stored = localStorage.getItem('halyard-docs-theme')
if (stored === 'light' || stored === 'dark') root.dataset.theme = stored
root.dataset.scripts = 'on'
