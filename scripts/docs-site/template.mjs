// The HTML around a page. No inline script or style: the site is served under a strict Content-Security-Policy.
import { addressOf, escapeHtml } from './markdown.mjs'

/** `pages` is the navigation with titles: `[{ title, pages: [{ path, title }] }]`. */
export function pageHtml({ page, pages, assets, version }) {
  const all = pages.flatMap(section => section.pages)
  const at = all.findIndex(({ path }) => path === page.path)
  const title = page.path === 'index' ? 'Halyard documentation' : `${page.title} · Halyard`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<meta name="color-scheme" content="light dark">
<link rel="icon" href="/favicon.svg">
<script src="${assets.theme}"></script>
<link rel="preload" as="font" type="font/woff2" crossorigin href="${assets.textFont}">
<link rel="stylesheet" href="${assets.style}">
<script type="module" src="${assets.site}"></script>
</head>
<body data-search="${assets.search}">
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<a class="brand" href="/docs/">Halyard <span class="version">${escapeHtml(version)}</span></a>
<div class="search" role="search">
<input type="search" id="search" placeholder="Search" aria-label="Search the documentation" autocomplete="off"
 role="combobox" aria-expanded="false" aria-controls="results" aria-autocomplete="list">
<div id="results" class="results" role="listbox" aria-label="Search results" hidden></div>
</div>
<nav class="links" aria-label="Site"><a href="/api/docs/">API</a><a href="/">Dashboard</a></nav>
<button type="button" id="theme" class="theme" aria-label="Dark mode" aria-pressed="false" hidden>◐</button>
</header>
<div class="columns">
<nav class="sidebar" aria-label="Pages">
<button type="button" id="menu" class="menu" aria-expanded="false" aria-controls="pages">Menu</button>
<div id="pages" class="pages">
${pages.map(section => sectionHtml(section, page)).join('\n')}
</div>
</nav>
<main id="content" tabindex="-1">
<article>
${page.html}
</article>
${neighborsHtml(all[at - 1], all[at + 1])}
</main>
${outlineHtml(page)}
</div>
</body>
</html>
`
}

function sectionHtml({ title, pages }, current) {
  const isOpen = pages.some(({ path }) => path === current.path) || current.path === 'index'
  const items = pages.map(({ path, title }) => {
    const mark = path === current.path ? ' aria-current="page"' : ''
    return `<li><a class="page-link" href="${addressOf(path)}"${mark}>${escapeHtml(title)}</a></li>`
  })
  return `<details${isOpen ? ' open' : ''}><summary>${escapeHtml(title)}</summary><ul>${items.join('')}</ul></details>`
}

function neighborsHtml(previous, next) {
  const link = (page, relation, label) =>
    page
      ? `<a class="neighbor" rel="${relation}" href="${addressOf(page.path)}"><span class="neighbor-label">${label}</span>${escapeHtml(page.title)}</a>`
      : '<span></span>'
  if (!previous && !next) return ''
  return `<nav class="neighbors" aria-label="Previous and next page">${link(previous, 'prev', 'Previous')}${link(next, 'next', 'Next')}</nav>`
}

function outlineHtml({ headings }) {
  const shown = headings.filter(({ level }) => level === 2 || level === 3)
  if (shown.length < 2) return ''
  const items = shown.map(
    ({ level, text, anchor }) =>
      `<li class="level-${level}"><a class="outline-link" href="#${anchor}">${escapeHtml(text)}</a></li>`,
  )
  return `<nav class="outline" aria-label="On this page"><p>On this page</p><ul>${items.join('')}</ul></nav>`
}
