import type { FlagLog, LoggedFlag } from './flag-log.ts'
import type { Override, Overrides, PageOverrides } from './page-overrides.ts'
import {
  isLocal,
  SigningRefused,
  type SigningServer,
  signOverrides,
  type Variants,
  variantsOf,
} from './sign-overrides.ts'
import { toolbarStyle } from './toolbar-style.ts'
import { type ToolbarTexts, textsFor } from './toolbar-texts.ts'

export interface ToolbarParts extends SigningServer {
  readonly overrides: PageOverrides
  readonly log: FlagLog
}

const keyName = 'halyard:toolbar-key'

interface Row {
  readonly row: HTMLTableRowElement
  readonly value: HTMLElement
  readonly why: HTMLElement
  control: HTMLSelectElement | HTMLInputElement
  kind: string
}

/** `<halyard-toolbar>`: the flags of the page, why they have their values, and overrides for this browser. */
export class HalyardToolbar extends HTMLElement {
  #parts: ToolbarParts | undefined
  #texts: ToolbarTexts = textsFor('en')
  readonly #rows = new Map<string, Row>()
  /** By flag; of flags whose variants were requested with the present key. */
  #variants: Variants = {}
  readonly #requested = new Set<string>()
  readonly #button = element('button', { type: 'button', class: 'open', 'aria-expanded': 'false' })
  readonly #panel = element('section', { hidden: '', tabindex: '-1' })
  readonly #body = element('tbody')
  readonly #note = element('p')
  readonly #status = element('p', { role: 'status' })
  readonly #key = element('input', { type: 'password', autocomplete: 'off', spellcheck: 'false' })
  readonly #footer = element('footer')
  readonly #ended: (() => void)[] = []

  connectedCallback(): void {
    if (this.shadowRoot === null) this.#build(this.attachShadow({ mode: 'open' }))
    this.#follow()
  }

  disconnectedCallback(): void {
    for (const end of this.#ended.splice(0)) end()
  }

  /** Gives the element what it shows. */
  connect(parts: ToolbarParts): void {
    this.#parts = parts
    if (this.isConnected) this.#follow()
  }

  #follow(): void {
    for (const end of this.#ended.splice(0)) end()
    if (this.#parts === undefined) return
    const { overrides, log } = this.#parts
    const render = () => this.#render()
    this.#ended.push(overrides.onChange(render), log.onChange(render))
    render()
  }

  #build(root: ShadowRoot): void {
    this.#texts = textsFor(this.closest('[lang]')?.getAttribute('lang') || navigator.language)
    const t = this.#texts
    root.adoptedStyleSheets = [toolbarStyle()]
    const close = button(t.close, () => this.#toggle(false))
    const head = element('header', {}, element('h2', { id: 'title' }, t.title), close)
    this.#panel.setAttribute('aria-labelledby', 'title')
    const columns = [t.flag, t.value, t.why, t.override].map(text => element('th', { scope: 'col' }, text))
    const table = element('table', {}, element('thead', {}, element('tr', {}, ...columns)), this.#body)
    this.#key.value = storedKey()
    this.#key.addEventListener('change', () => {
      storeKey(this.#key.value)
      this.#requested.clear()
      void this.#loadVariants()
    })
    this.#key.setAttribute('aria-describedby', 'key-hint')
    this.#footer.append(
      button(t.copy, () => void this.#copy()),
      button(t.clear, () => this.#parts?.overrides.clear()),
    )
    this.#panel.append(
      head,
      table,
      this.#note,
      this.#footer,
      element('label', {}, t.key, this.#key),
      element('p', { id: 'key-hint' }, t.keyHint),
      this.#status,
    )
    this.#button.addEventListener('click', () => this.#toggle(this.#panel.hidden !== false))
    this.#panel.addEventListener('keydown', event => {
      if (event.key === 'Escape') this.#toggle(false)
    })
    root.append(this.#panel, this.#button)
  }

  #toggle(isOpen: boolean): void {
    this.#panel.hidden = !isOpen
    this.#button.setAttribute('aria-expanded', String(isOpen))
    if (isOpen) this.#panel.focus()
    else this.#button.focus()
    void this.#loadVariants()
  }

  /** Only while the panel is open: visitors of the page send nothing. */
  async #loadVariants(): Promise<void> {
    const key = this.#key.value.trim()
    if (this.#parts === undefined || this.#panel.hidden || key === '') return
    const flags = this.#parts.log.flags.map(flag => flag.key).filter(flag => !this.#requested.has(flag))
    if (flags.length === 0) return
    for (const flag of flags) this.#requested.add(flag)
    const loaded = await variantsOf(this.#parts, key, flags)
    this.#variants = { ...this.#variants, ...loaded }
    this.#render()
  }

  #render(): void {
    if (this.#parts === undefined) return
    const { overrides, log } = this.#parts
    const t = this.#texts
    const { values, expiresAt } = overrides
    const { flags } = log
    const count = Object.keys(values).length
    this.#button.textContent = t.open(flags.length, count)
    this.#button.classList.toggle('on', count > 0)
    for (const flag of flags) this.#renderRow(flag, values)
    void this.#loadVariants()
    const isRefused = flags.some(
      ({ key, reason, reasonCode }) => key in values && reasonCode !== 'override' && reason !== 'PROVIDER_NOT_READY',
    )
    const end = expiresAt === undefined ? '' : t.expires(new Date(expiresAt).toLocaleString())
    this.#note.textContent = flags.length === 0 ? t.none : isRefused ? t.refused : end
    this.#footer.hidden = count === 0
  }

  #renderRow(flag: LoggedFlag, values: Overrides): void {
    const variants = Object.hasOwn(this.#variants, flag.key) ? this.#variants[flag.key]! : []
    const kind = variants.length > 0 ? `one of ${variants.join()}` : kindOf(flag)
    const row = this.#rows.get(flag.key) ?? this.#addRow(flag.key)
    if (row.kind !== kind && this.shadowRoot?.activeElement !== row.control) {
      const control = this.#controlFor(flag.key, kind, variants)
      row.control.replaceWith(control)
      Object.assign(row, { control, kind })
    }
    row.row.classList.toggle('on', flag.reasonCode === 'override')
    setText(row.value, typeof flag.value === 'string' ? flag.value : JSON.stringify(flag.value))
    const t = this.#texts.reasons
    setText(row.why, t[flag.reasonCode ?? ''] ?? t[flag.reason ?? ''] ?? flag.reason ?? '')
    const shown = textOf(Object.hasOwn(values, flag.key) ? values[flag.key] : undefined)
    if (row.control.value !== shown && this.shadowRoot?.activeElement !== row.control) row.control.value = shown
  }

  #addRow(key: string): Row {
    const value = element('code')
    const why = element('td', { class: 'why' })
    const control = element('input')
    const cells = [element('th', { scope: 'row' }, key), element('td', {}, value), why, element('td', {}, control)]
    const row = element('tr', {}, ...cells)
    const made: Row = { row, value, why, control, kind: '' }
    this.#body.append(row)
    this.#rows.set(key, made)
    return made
  }

  #controlFor(key: string, kind: string, variants: readonly string[]): HTMLSelectElement | HTMLInputElement {
    const t = this.#texts
    const named = variants.map(variant => [variant, variant] as const)
    const on = named.length > 0 ? named : [['true', t.on] as const]
    const choices = [['', t.serverValue] as const, ...on, ['false', t.off] as const]
    const control =
      kind === 'boolean' || named.length > 0
        ? element('select', {}, ...choices.map(([value, text]) => element('option', { value }, text)))
        : element('input', { spellcheck: 'false', autocomplete: 'off' })
    control.setAttribute('aria-label', t.overrideOf(key))
    control.addEventListener('change', () => void this.#change(key, control.value.trim(), kind))
    return control
  }

  async #change(key: string, text: string, kind: string): Promise<void> {
    if (this.#parts === undefined) return
    const { overrides } = this.#parts
    const { [key]: _former, ...others } = overrides.values
    const next = text === '' ? others : { ...others, [key]: overrideOf(text, kind) }
    this.#say('')
    if (Object.keys(next).length === 0) return overrides.clear()
    const apiKey = this.#key.value.trim()
    if (apiKey === '' && !isLocal(this.#parts.url)) {
      this.#say(this.#texts.keyNeeded)
      this.#render()
      return
    }
    try {
      overrides.set(await signOverrides(this.#parts, apiKey, next))
    } catch (error) {
      this.#say(error instanceof SigningRefused ? error.message : this.#texts.unreachable)
      this.#render()
    }
  }

  async #copy(): Promise<void> {
    const link = this.#parts?.overrides.shareLink() ?? ''
    try {
      await navigator.clipboard.writeText(link)
      this.#say(this.#texts.copied)
    } catch {
      // Without permission, the link is shown to be copied.
      this.#say(link)
    }
  }

  #say(text: string): void {
    this.#status.textContent = text
  }
}

/** How an override is entered where the variants are not known: chosen, as the key of a variant, or as JSON. */
function kindOf({ value, variant }: LoggedFlag): string {
  if (typeof value === 'boolean') return 'boolean'
  return typeof value === 'string' && (variant === undefined || variant === value) ? 'variant' : 'payload'
}

function overrideOf(text: string, kind: string): Override {
  if (text === 'true' || text === 'false') return text === 'true'
  if (kind !== 'payload') return text
  try {
    return { value: true, payload: JSON.parse(text) as unknown }
  } catch {
    return { value: true, payload: text }
  }
}

function textOf(override: Override | undefined): string {
  if (override === undefined) return ''
  if (typeof override !== 'object') return String(override)
  return override.payload === undefined ? String(override.value) : JSON.stringify(override.payload)
}

function setText(target: HTMLElement, text: string): void {
  if (target.textContent !== text) target.textContent = text
}

function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Readonly<Record<string, string>> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name)
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value)
  made.append(...children)
  return made
}

function button(text: string, onClick: () => void): HTMLButtonElement {
  const made = element('button', { type: 'button' }, text)
  made.addEventListener('click', onClick)
  return made
}

/** Until the tab is closed: a key that lies in the browser longer than it is needed is a risk. */
function storedKey(): string {
  try {
    return sessionStorage.getItem(keyName) ?? ''
  } catch {
    return ''
  }
}

function storeKey(key: string): void {
  try {
    sessionStorage.setItem(keyName, key.trim())
  } catch {
    // It stays in the field.
  }
}
