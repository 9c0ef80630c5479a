/** The value of one flag: on or off, a variant, or the same with a payload. */
export type Override = boolean | string | { readonly value: boolean | string; readonly payload?: unknown }
export type Overrides = Readonly<Record<string, Override>>

/** The overrides of this browser. Only the server decides whether they are valid. */
export interface PageOverrides {
  /** What the provider sends; undefined when nothing is overridden. */
  readonly token: string | undefined
  /** What the token contains. */
  readonly values: Overrides
  /** Unix time in milliseconds. */
  readonly expiresAt: number | undefined
  /** Stores a token. Returns false for text that is none, and changes nothing then. */
  set(token: string): boolean
  clear(): void
  /** Stores these no longer, but those that a link replaced. This page keeps them, so that the toolbar can say that the server refuses them. */
  forget(token: string): void
  /** The address of this page with the overrides. */
  shareLink(): string
  onChange(listener: () => void): () => void
}

/** The parts of a browser that are used, for tests. */
export interface PageParts {
  readonly storage?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | undefined
  readonly location?: { readonly href: string }
  readonly history?: { replaceState(state: unknown, unused: string, url: string): void }
  readonly now?: () => number
}

const parameter = 'halyard_overrides'
const storageName = 'halyard:overrides'
const tokenPattern = /^(?:ho1\.([\w-]+)\.[\w-]{43}|unsigned\.([\w-]+))$/

/** Takes the overrides of a shared link, or those that this browser has stored. */
export function createPageOverrides(parts: PageParts = {}): PageOverrides {
  const { location = window.location, history = window.history, now = Date.now } = parts
  const storage = 'storage' in parts ? parts.storage : browserStorage()
  const listeners = new Set<() => void>()
  let token: string | undefined
  let content: Content | undefined

  function store(next: string | undefined): void {
    try {
      if (next === undefined) storage?.removeItem(storageName)
      else storage?.setItem(storageName, next)
    } catch {
      // The storage is full or forbidden: the overrides end with this page.
    }
  }

  function use(next: string | undefined): boolean {
    const nextContent = next === undefined ? undefined : contentOf(next)
    if (next !== undefined && (nextContent === undefined || nextContent.expiresAt <= now())) return false
    token = next
    content = nextContent
    store(next)
    for (const listener of listeners) listener()
    return true
  }

  const url = new URL(location.href)
  const shared = url.searchParams.get(parameter)
  if (shared !== null) {
    // The link must not be copied along with the address of the page.
    url.searchParams.delete(parameter)
    history.replaceState(null, '', url.href)
  }
  const stored = readStored(storage)
  // An unsigned link is for `halyard dev`; elsewhere it would replace the visitor's own overrides.
  const isForeign = shared?.startsWith('unsigned.') && !isLocal(url.hostname)
  if ((shared === null || isForeign || !use(shared)) && stored !== undefined && !use(stored)) use(undefined)

  return {
    get token() {
      return token
    },
    get values() {
      return content?.values ?? {}
    },
    get expiresAt() {
      return content?.expiresAt
    },
    set: use,
    clear: () => void use(undefined),
    forget(refused) {
      // A forged link must not cost the visitor their own overrides.
      if (refused === token) store(refused === shared ? stored : undefined)
    },
    shareLink() {
      const link = new URL(location.href)
      if (token !== undefined) link.searchParams.set(parameter, token)
      return link.href
    },
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

const isLocal = (hostname: string): boolean =>
  hostname === 'localhost' || hostname.endsWith('.localhost') || hostname === '[::1]' || hostname.startsWith('127.')

interface Content {
  readonly values: Overrides
  readonly expiresAt: number
}

function contentOf(token: string): Content | undefined {
  const [, signed, unsigned] = tokenPattern.exec(token) ?? []
  try {
    const bytes = Uint8Array.from(atob((signed ?? unsigned ?? '').replace(/-/g, '+').replace(/_/g, '/')), each =>
      each.charCodeAt(0),
    )
    const { o, e } = JSON.parse(new TextDecoder().decode(bytes)) as { o: unknown; e: unknown }
    if (typeof o !== 'object' || o === null || typeof e !== 'number') return undefined
    return { values: o as Overrides, expiresAt: e * 1000 }
  } catch {
    return undefined
  }
}

/** For `halyard dev`, which needs no signature. */
export function unsignedToken(values: Overrides, expiresAt: number): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ o: values, e: Math.floor(expiresAt / 1000) }))
  const text = btoa(String.fromCharCode(...bytes))
  return `unsigned.${text.replace(/\+/g, '-').replace(/\//g, '_').replace(/=+$/, '')}`
}

function readStored(storage: PageParts['storage']): string | undefined {
  try {
    return storage?.getItem(storageName) ?? undefined
  } catch {
    return undefined
  }
}

/** Reading it throws where cookies are blocked. */
function browserStorage(): Storage | undefined {
  try {
    return window.localStorage
  } catch {
    return undefined
  }
}
