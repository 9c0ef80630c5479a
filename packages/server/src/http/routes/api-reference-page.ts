import type { Route } from '@halyard/contract'

/** The table of routes for people to read: one page without script, made from the same definitions as everything else. */
export function docsPage(routes: readonly Route[]): string {
  const tags = [...new Set(routes.map(route => route.tag))].sort()
  const sections = tags.map(tag => {
    const rows = routes.filter(route => route.tag === tag).map(describe)
    return `<section><h2 id="${anchor(tag)}">${escapeHtml(tag)}</h2>${rows.join('')}</section>`
  })
  const contents = tags.map(tag => `<li><a href="#${anchor(tag)}">${escapeHtml(tag)}</a></li>`)
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Halyard API</title><link rel="stylesheet" href="/api/docs/style.css"></head><body><header><h1>Halyard API</h1>
<p>Send a personal API key as <code>Authorization: Bearer phx_…</code>. Bodies are JSON; a trailing slash is optional; errors are
<code>{type, code, detail, attr}</code>. The same as a machine reads it: <a href="/api/schema/">OpenAPI 3.1</a>.</p>
<nav aria-label="Contents"><ul>${contents.join('')}</ul></nav></header><main>${sections.join('')}</main></body></html>`
}

function describe(route: Route): string {
  const scopes = route.access.kind === 'open' ? 'no key needed' : route.access.scopes.join(' or ') || 'any key'
  const answers = Object.keys(route.answers).join(', ')
  return `<article><h3><span class="method">${route.method}</span> <code>${escapeHtml(route.path)}/</code></h3>
<p>${escapeHtml(route.summary)}.</p><p class="small">Scope: ${escapeHtml(scopes)}. Answers: ${answers}.</p>${fields('Query', route.query)}${fields('Body', route.body)}</article>`
}

function fields(title: string, schema: unknown): string {
  const { properties, required } = (schema ?? {}) as {
    properties?: Record<string, { type?: string; description?: string; anyOf?: unknown }>
    required?: string[]
  }
  if (!properties) return ''
  const rows = Object.entries(properties).map(
    ([name, { type, description }]) =>
      `<tr><th scope="row"><code>${escapeHtml(name)}</code>${required?.includes(name) ? ' (required)' : ''}</th><td>${escapeHtml(type ?? 'any of several')}</td><td>${escapeHtml(description ?? '')}</td></tr>`,
  )
  return `<details><summary>${title}</summary><table><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Notes</th></tr></thead><tbody>${rows.join('')}</tbody></table></details>`
}

const anchor = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, '-')

const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, found => `&#${found.charCodeAt(0)};`)

export const docsStyle = `:root{color-scheme:light dark;font:16px/1.5 system-ui,sans-serif}body{max-width:60rem;margin:0 auto;padding:1rem}
h3{font-size:1rem;margin:1.5rem 0 0}.method{font-weight:700;display:inline-block;min-width:4.5rem}.small{opacity:.8;font-size:.9rem;margin:0}
p{margin:.25rem 0}table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.25rem .5rem;border-bottom:1px solid #8884;vertical-align:top;font-weight:400}
code{font-family:ui-monospace,monospace}nav ul{columns:3;padding-left:1rem}a{color:LinkText}`
