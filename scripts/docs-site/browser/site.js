// Search, theme button, copy buttons and the menu. Pages are complete without it.
import MiniSearch from 'minisearch'

const resultsMax = 12
const input = document.getElementById('search')
const list = document.getElementById('results')

/** Fetched when the search field gets the focus; most visits never need it. */
let index
const loadIndex = () => {
  index ??= fetch(document.body.dataset.search)
    .then(response => response.json())
    .then(sections => {
      const search = new MiniSearch({
        idField: 'url',
        fields: ['heading', 'title', 'text'],
        storeFields: ['title', 'heading', 'text'],
        searchOptions: {
          boost: { heading: 4, title: 2 },
          prefix: true,
          fuzzy: term => (term.length > 4 ? 0.2 : false),
          combineWith: 'AND',
        },
      })
      search.addAll(sections)
      return search
    })
  return index
}

let latest = 0
async function showResults() {
  const query = input.value.trim()
  const request = ++latest
  const search = await loadIndex()
  if (request !== latest) return
  const results = query === '' ? [] : search.search(query).slice(0, resultsMax)
  const options = results.map(({ id, title, heading, text, terms }, position) => {
    const option = document.createElement('a')
    option.href = id
    option.id = `result-${position}`
    option.role = 'option'
    option.className = 'result'
    option.tabIndex = -1
    option.append(
      line('strong', heading === title ? title : `${title} › ${heading}`),
      line('span', excerpt(text, terms), 'result-excerpt'),
    )
    return option
  })
  if (query !== '' && options.length === 0) {
    const none = line('p', `No results for “${query}”`, 'result')
    none.role = 'option'
    none.ariaDisabled = 'true'
    options.push(none)
  }
  list.replaceChildren(...options)
  setOpen(options.length > 0)
  select(results.length > 0 ? 0 : -1)
}

function line(tag, text, className = '') {
  const element = document.createElement(tag)
  element.className = className
  element.textContent = text
  return element
}

/** The text around the first match. */
function excerpt(text, terms) {
  const lower = text.toLowerCase()
  const at = Math.max(
    0,
    ...terms
      .map(term => lower.indexOf(term))
      .filter(position => position >= 0)
      .slice(0, 1),
  )
  const start = Math.max(0, at - 40)
  return `${start > 0 ? '…' : ''}${text.slice(start, start + 140)}${text.length > start + 140 ? '…' : ''}`
}

let selected = -1
const links = () => [...list.querySelectorAll('a')]
function select(position) {
  selected = position
  for (const [at, link] of links().entries()) link.ariaSelected = String(at === position)
  const chosen = links()[position]
  if (chosen) input.setAttribute('aria-activedescendant', chosen.id)
  else input.removeAttribute('aria-activedescendant')
  chosen?.scrollIntoView({ block: 'nearest' })
}

function setOpen(isOpen) {
  list.hidden = !isOpen
  input.ariaExpanded = String(isOpen)
}

input.addEventListener('focus', loadIndex, { once: true })
input.addEventListener('input', showResults)
input.addEventListener('keydown', event => {
  const count = links().length
  if (event.key === 'ArrowDown' && count > 0) select((selected + 1) % count)
  else if (event.key === 'ArrowUp' && count > 0) select((selected - 1 + count) % count)
  else if (event.key === 'Enter') links()[selected]?.click()
  else if (event.key === 'Escape') setOpen(false)
  else return
  event.preventDefault()
})
list.addEventListener('click', () => setOpen(false))
document.addEventListener('click', event => {
  if (!event.target.closest('.search')) setOpen(false)
})
document.addEventListener('keydown', event => {
  const isTyping = event.target.closest('input, textarea, select')
  const isShortcut = (event.key === '/' && !isTyping) || (event.key === 'k' && (event.ctrlKey || event.metaKey))
  if (!isShortcut) return
  event.preventDefault()
  input.focus()
  input.select()
})

const dark = matchMedia('(prefers-color-scheme: dark)')
const theme = document.getElementById('theme')
const isDark = () => (document.documentElement.dataset.theme ?? (dark.matches ? 'dark' : 'light')) === 'dark'
const showTheme = () => (theme.ariaPressed = String(isDark()))
theme.addEventListener('click', () => {
  const chosen = isDark() ? 'light' : 'dark'
  document.documentElement.dataset.theme = chosen
  localStorage.setItem('halyard-docs-theme', chosen)
  showTheme()
})
dark.addEventListener('change', showTheme)
theme.hidden = false
showTheme()

for (const block of document.querySelectorAll('.code')) {
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(block.querySelector('code').textContent)
    button.textContent = 'Copied'
    setTimeout(() => (button.textContent = 'Copy'), 2000)
  })
  block.append(button)
}

const menu = document.getElementById('menu')
menu.addEventListener('click', () => (menu.ariaExpanded = String(menu.ariaExpanded !== 'true')))
