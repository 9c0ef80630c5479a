/**
 * `starting`: no definitions yet. `cached`: definitions of the bootstrap or the cache. `ready`: in contact with the server. `stale`: no
 * contact for a while, or newer definitions that cannot be used; evaluation goes on. `refused`: there is no key, or the server does not
 * accept it. `closed`: after `close()`.
 */
export type ClientStatus = 'starting' | 'cached' | 'ready' | 'stale' | 'refused' | 'closed'

export interface ClientEvents {
  /** The keys of flags whose values may have changed. */
  readonly change: (keys: readonly string[]) => void
  readonly status: (status: ClientStatus) => void
}
