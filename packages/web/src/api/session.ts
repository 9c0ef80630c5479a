/** The signed-in user's API key. It expires, and is stored until the last tab is closed. */
export interface Credentials {
  readonly key: string
  readonly expiresAt: string
}

export type EndReason = 'signed-out' | 'expired'

export interface Session {
  current(): Credentials | undefined
  /** Why the last session ended, for the sign-in page. */
  endedBecause(): EndReason | undefined
  begin(credentials: Credentials): void
  /** The user leaves an expired session instead of continuing it. */
  forget(): void
  /** With a key: only if it is still the current one, so that a late response cannot end a newer session. */
  end(reason: EndReason, key?: string): void
  subscribe(listener: () => void): () => void
}

const storageName = 'halyard.session'
const endedName = 'halyard.session-ended'

export function createSession(storage: Storage, now: () => number = Date.now): Session {
  let credentials = read(storage)
  // Stored as well, so that a reload of the sign-in page still shows the reason.
  let ended: EndReason | undefined = storage.getItem(endedName) === 'expired' ? 'expired' : undefined
  let timer: ReturnType<typeof setTimeout> | undefined
  const listeners = new Set<() => void>()

  const notifyListeners = () => {
    for (const listener of listeners) listener()
  }
  const end = (reason: EndReason, key?: string) => {
    if (!credentials || (key !== undefined && key !== credentials.key)) return
    clearTimeout(timer)
    credentials = undefined
    ended = reason
    storage.removeItem(storageName)
    storage.setItem(endedName, reason)
    notifyListeners()
  }
  const watchExpiry = () => {
    clearTimeout(timer)
    if (!credentials) return
    const left = Date.parse(credentials.expiresAt) - now()
    if (Number.isFinite(left)) timer = setTimeout(() => end('expired'), Math.max(0, Math.min(left, 2 ** 31 - 1)))
  }
  watchExpiry()

  return {
    current: () => credentials,
    endedBecause: () => ended,
    begin(next) {
      credentials = next
      ended = undefined
      storage.setItem(storageName, JSON.stringify(next))
      storage.removeItem(endedName)
      watchExpiry()
      notifyListeners()
    },
    forget() {
      ended = undefined
      storage.removeItem(endedName)
      notifyListeners()
    },
    end,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}

function read(storage: Storage): Credentials | undefined {
  try {
    const value = JSON.parse(storage.getItem(storageName) ?? 'null') as Credentials | null
    return typeof value?.key === 'string' && typeof value.expiresAt === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
