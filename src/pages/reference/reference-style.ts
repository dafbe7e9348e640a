// The look of the reference, in both themes.

export const REFERENCE_STYLE = `
:root {
  color-scheme: light dark;
  --paper: #ffffff; --panel: #f4f5f7; --line: #c9ced6; --text: #1b1f24; --quiet: #57606a; --accent: #0b5cad;
}
@media (prefers-color-scheme: dark) {
  :root { --paper: #14181d; --panel: #1c2128; --line: #444c56; --text: #e6edf3; --quiet: #a3adb8; --accent: #7ab7ff; }
}
* { box-sizing: border-box; }
body {
  margin: 0; color: var(--text); background: var(--paper); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif;
  display: grid; grid-template-columns: 17rem minmax(0, 1fr);
}
nav {
  position: sticky; top: 0; height: 100vh; overflow: auto; padding: 1rem; background: var(--panel);
  border-right: 1px solid var(--line);
}
nav h2 { font-size: 0.9rem; margin: 0.8rem 0 0.2rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li { padding: 0.15rem 0; }
main { padding: 1rem 2rem 4rem; max-width: 62rem; overflow-wrap: anywhere; }
main:focus { outline: none; }
section { border-top: 1px solid var(--line); margin-top: 2rem; padding-top: 0.5rem; }
h1 { font-size: 1.6rem; }
h2 { font-size: 1.25rem; }
h3 { font-size: 1.05rem; }
h4 { font-size: 0.95rem; font-weight: 600; margin: 1.2rem 0 0.3rem; }
a { color: var(--accent); }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
code, pre { font-family: ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; font-size: 0.9em; }
code { overflow-wrap: anywhere; }
pre {
  margin: 0.3rem 0; padding: 0.6rem; background: var(--panel); border: 1px solid var(--line);
  white-space: pre-wrap; overflow-wrap: anywhere;
}
.request { padding: 0.4rem 0.6rem; background: var(--panel); border: 1px solid var(--line); }
.answer { margin-left: 0.2rem; }
.answer p { margin: 0.2rem 0; }
summary { cursor: pointer; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: 0.3rem 0.6rem 0.3rem 0; border-bottom: 1px solid var(--line); }
th { font-weight: 600; }
small { display: block; color: var(--quiet); font-weight: 400; }
dt { margin-top: 0.6rem; }
dd { margin: 0; }
.skip { position: absolute; left: -99rem; }
.skip:focus { left: 1rem; top: 0.5rem; z-index: 1; background: var(--paper); padding: 0.3rem 0.6rem; }
@media (max-width: 48rem) {
  body { display: block; }
  nav { position: static; height: auto; border-right: 0; }
  main { padding: 1rem; }
}
`;
