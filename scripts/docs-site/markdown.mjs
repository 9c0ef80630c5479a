// Markdown to HTML, with the anchors that GitHub generates, so that a link works in both places.
import { dirname, join } from 'node:path/posix'
import hljs from 'highlight.js/lib/core'
import MarkdownIt from 'markdown-it'

/** A page as the site needs it: its title, HTML, headings for the table of contents, and plain text by section for the search. */
export function renderPage(path, source) {
  const headings = []
  const html = markdown.render(source, { path, headings, anchors: new Set(), linked: new Set() })
  return { path, html, headings, title: headings[0]?.text ?? path }
}

export const addressOf = path => `/docs/${path.toLowerCase()}/`.replace(/index\/$/, '')

/** Name in a code fence → grammar of highlight.js. Other blocks stay plain. */
const languages = {
  sh: 'bash',
  js: 'javascript',
  jsx: 'javascript',
  ts: 'typescript',
  json: 'json',
  yaml: 'yaml',
  html: 'xml',
  xml: 'xml',
  python: 'python',
  go: 'go',
  ruby: 'ruby',
  php: 'php',
  java: 'java',
  kotlin: 'kotlin',
  csharp: 'csharp',
  swift: 'swift',
  dart: 'dart',
  nginx: 'nginx',
  ini: 'ini',
}
for (const [name, grammar] of Object.entries(languages)) {
  hljs.registerLanguage(name, (await import(`highlight.js/lib/languages/${grammar}`)).default)
}

const markdown = new MarkdownIt({ html: false, linkify: false })

function highlight(code, language) {
  return hljs.getLanguage(language) ? hljs.highlight(code, { language }).value : ''
}

/** Comments such as `<!-- not run -->` are for the tests. */
markdown.block.ruler.before('paragraph', 'comment', (state, line, _endLine, isSilent) => {
  const text = state.src.slice(state.bMarks[line] + state.tShift[line], state.eMarks[line])
  if (!/^<!--.*-->$/.test(text)) return false
  if (!isSilent) state.line = line + 1
  return true
})

const rules = markdown.renderer.rules
const original = { ...rules }
const renderToken = (tokens, index, options) => markdown.renderer.renderToken(tokens, index, options)

rules.heading_open = (tokens, index, options, env) => {
  const token = tokens[index]
  const text = plainText(tokens[index + 1])
  const anchor = uniqueAnchor(text, env.anchors)
  env.headings.push({ level: Number(token.tag.slice(1)), text, anchor })
  token.attrSet('id', anchor)
  return renderToken(tokens, index, options)
}

rules.heading_close = (tokens, index, options, env) => {
  const { level, anchor, text } = env.headings.at(-1)
  const link = level === 1 ? '' : ` <a class="anchor" href="#${anchor}" aria-label="Link to ${escapeHtml(text)}">#</a>`
  return link + renderToken(tokens, index, options)
}

rules.link_open = (tokens, index, options, env) => {
  const token = tokens[index]
  const target = resolveLink(env.path, token.attrGet('href'))
  if (target === undefined) {
    // The file is in the repository, not on the site.
    token.tag = 'span'
    tokens[closingIndex(tokens, index)].tag = 'span'
    token.attrs = [['class', 'in-repository']]
  } else {
    token.attrSet('href', target)
  }
  return renderToken(tokens, index, options)
}

rules.image = (tokens, index, options, env) => {
  const token = tokens[index]
  token.attrSet('src', `/docs/${join(dirname(env.path), token.attrGet('src'))}`)
  token.attrSet('loading', 'lazy')
  return original.image(tokens, index, options, env, markdown.renderer)
}

rules.fence = (tokens, index) => {
  const { info, content } = tokens[index]
  const language = info.trim().split(/\s+/)[0]
  const code = highlight(content, language) || escapeHtml(content)
  return `<div class="code"><pre tabindex="0"><code>${code}</code></pre></div>\n`
}

rules.table_open = () => '<div class="table" tabindex="0"><table>\n'
rules.table_close = () => '</table></div>\n'
/** The header cell of a comparison table may be empty, which screen readers announce as a nameless column. */
rules.th_open = (tokens, index, options) => {
  if (tokens[index + 1].content === '') {
    tokens[index].tag = 'td'
    tokens[closingIndex(tokens, index)].tag = 'td'
  }
  return renderToken(tokens, index, options)
}

function closingIndex(tokens, index) {
  const type = tokens[index].type.replace('_open', '_close')
  return tokens.findIndex((token, at) => at > index && token.type === type)
}

/** The address on the site of a link in a document, or undefined for other files of the repository. */
function resolveLink(path, href) {
  if (/^(?:https?:|mailto:|#)/.test(href)) return href
  const [file, anchor] = href.split('#')
  const target = join(dirname(path), file)
  const suffix = anchor ? `#${anchor}` : ''
  if (target.startsWith('..')) return undefined
  if (target.endsWith('.md')) return addressOf(target.slice(0, -'.md'.length)) + suffix
  return undefined
}

function uniqueAnchor(text, anchors) {
  const slug = text
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number} _-]/gu, '')
    .replaceAll(' ', '-')
  let anchor = slug
  for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`
  anchors.add(anchor)
  return anchor
}

const plainText = inline =>
  inline.children
    .map(({ type, content }) => (type === 'softbreak' ? ' ' : ['text', 'code_inline'].includes(type) ? content : ''))
    .join('')

export const escapeHtml = text => markdown.utils.escapeHtml(text)

/** The text below each heading, without markup. Code is included: people search for settings and operators. */
export function searchSections(path, source) {
  const tokens = markdown.parse(source, {})
  const anchors = new Set()
  const sections = []
  let title = ''
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'heading_open') {
      const text = plainText(tokens[index + 1])
      title ||= text
      sections.push({ url: `${addressOf(path)}#${uniqueAnchor(text, anchors)}`, title, heading: text, text: '' })
    } else if (token.type === 'inline' && tokens[index - 1].type !== 'heading_open') {
      append(sections, plainText(token))
    } else if (token.type === 'fence') {
      append(sections, token.content)
    }
  }
  return sections.map(section => ({ ...section, text: section.text.replace(/\s+/g, ' ').trim() }))
}

function append(sections, text) {
  const last = sections.at(-1)
  if (last) last.text += ` ${text}`
}
