/** The style sheet of the page: system fonts, light and dark as the reader's system is set. */
export const DOCS_STYLE = `
:root {
  --page: #ffffff; --panel: #f5f7f8; --line: #d9dfe3; --ink: #1a2329; --quiet: #55636d; --accent: #0b6b50;
  --get: #0b6b50; --post: #8a4b00; --patch: #6a3fa0; --delete: #b02020;
}
@media (prefers-color-scheme: dark) {
  :root {
    --page: #12181c; --panel: #1b2328; --line: #313c43; --ink: #e4eaed; --quiet: #9fadb6; --accent: #5cc9a7;
    --get: #5cc9a7; --post: #e3a857; --patch: #b99ae8; --delete: #f08a8a;
  }
}
* { box-sizing: border-box; }
html { color-scheme: light dark; scroll-padding-top: 1rem; }
body {
  margin: 0 auto; max-width: 1200px; display: grid; grid-template-columns: 19rem minmax(0, 1fr);
  background: var(--page); color: var(--ink); font: 1rem/1.55 system-ui, sans-serif;
}
code, pre, .path, .verb { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 0.875em; }
a { color: var(--accent); }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; padding: 1.5rem 1rem; border-right: 1px solid var(--line); }
nav h2 { margin: 1rem 0 0.25rem; font-size: 0.875rem; }
nav h2:first-child { margin-top: 0; }
nav h2 a { color: var(--ink); text-decoration: none; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav li a { display: flex; gap: 0.5rem; padding: 0.15rem 0; text-decoration: none; color: var(--quiet); font-size: 0.875rem; }
nav li a:hover { color: var(--accent); }
nav .verb { flex: 0 0 3.4rem; }
nav .path { overflow-wrap: anywhere; }
main { padding: 1.5rem 2rem 4rem; min-width: 0; }
h1 { margin: 0 0 0.5rem; font-size: 1.6rem; line-height: 1.25; }
h1 small { color: var(--quiet); font-size: 1rem; font-weight: 400; }
h2 { font-size: 1.25rem; line-height: 1.3; }
section { margin-top: 2.5rem; }
article { margin-top: 1.5rem; padding: 1rem 1.25rem; border: 1px solid var(--line); border-radius: 6px; }
article:target { border-color: var(--accent); }
h3 { margin: 0; font-size: 1rem; overflow-wrap: anywhere; }
h3 code { font-size: 1rem; }
h4 { margin: 1.1rem 0 0.3rem; font-size: 0.875rem; color: var(--quiet); }
p { margin: 0.4rem 0; max-width: 72ch; }
.verb { font-weight: 700; color: var(--quiet); }
.verb.get { color: var(--get); }
.verb.post { color: var(--post); }
.verb.patch { color: var(--patch); }
.verb.delete { color: var(--delete); }
.token { margin-left: 0.4rem; padding: 0.05rem 0.45rem; border: 1px solid var(--line); border-radius: 4px; color: var(--quiet); font-size: 0.8125rem; white-space: nowrap; }
.note, .rule { color: var(--quiet); font-size: 0.875rem; }
.rule { display: block; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) minmax(0, 1fr); gap: 0.3rem 1.25rem; margin: 0; }
dd { margin: 0; }
pre { margin: 0.3rem 0; padding: 0.65rem 0.8rem; background: var(--panel); border-radius: 4px; white-space: pre-wrap; overflow-wrap: anywhere; line-height: 1.45; }
.answer { margin: 0.5rem 0; }
.answer p { display: grid; grid-template-columns: 2.4rem minmax(0, 1fr); gap: 0.4rem; max-width: none; }
.answer p code { display: inline-block; margin-right: 0.4rem; }
.status { font-variant-numeric: tabular-nums; }
.status.s2 { color: var(--get); }
.status.s4 { color: var(--post); }
.status.s5 { color: var(--delete); }
summary { color: var(--quiet); font-size: 0.875rem; cursor: pointer; }
details dl { margin: 0.4rem 0 0.4rem 1rem; }
@media (max-width: 800px) {
  body { display: block; }
  nav { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); }
  main { padding: 1rem 1rem 3rem; }
  article { padding: 0.8rem 0.9rem; }
  dl { grid-template-columns: minmax(0, 1fr); gap: 0.1rem; }
  dd { margin-bottom: 0.5rem; }
}
@media print { nav { display: none; } body { display: block; } }
`;
