/** Constructed, so that it works under a policy without inline styles. */
export function toolbarStyle(): CSSStyleSheet {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(`
:host { all: initial; position: fixed; inset: auto 16px 16px auto; z-index: 2147483000; color-scheme: light dark;
  font: 14px/1.4 system-ui, sans-serif; --line: light-dark(#c9cdd4, #4a4f59); --text: light-dark(#16181d, #f1f3f6);
  --muted: light-dark(#525866, #b3bac6); --back: light-dark(#fff, #1b1d22); --mark: light-dark(#8a4b00, #ffb84d); }
:host([hidden]) { display: none; }
* { box-sizing: border-box; font: inherit; color: inherit; }
button, input, select { background: var(--back); border: 1px solid var(--line); border-radius: 6px; padding: 4px 8px;
  min-height: 28px; color: var(--text); }
button { cursor: pointer; }
:focus-visible { outline: 2px solid light-dark(#1a56db, #8ab4ff); outline-offset: 1px; }
.open { display: block; margin-left: auto; padding: 8px 14px; border-radius: 999px; box-shadow: 0 2px 10px #0004; }
.open.on { border-color: var(--mark); color: var(--mark); font-weight: 600; }
section { background: var(--back); color: var(--text); border: 1px solid var(--line); border-radius: 10px;
  box-shadow: 0 6px 30px #0005; margin-bottom: 8px; padding: 12px; width: min(640px, calc(100vw - 32px));
  max-height: min(70vh, 600px); overflow: auto; }
section[hidden] { display: none; }
footer, label { margin-top: 8px; }
header, footer { display: flex; gap: 8px; align-items: center; flex-wrap: wrap; }
h2 { font-size: 16px; font-weight: 600; margin: 0 auto 0 0; }
table { width: 100%; border-collapse: collapse; margin: 8px 0; }
th { text-align: left; font-weight: 600; color: var(--muted); }
th, td { padding: 4px 8px 4px 0; vertical-align: top; border-bottom: 1px solid var(--line); overflow-wrap: break-word; }
code { font-family: ui-monospace, monospace; }
tr.on code, tr.on .why { color: var(--mark); }
td input, td select { width: 120px; }
label { color: var(--muted); display: flex; gap: 6px; align-items: center; }
p { margin: 6px 0 0; color: var(--muted); }
p:empty:not([role]) { display: none; }
`)
  return sheet
}
