import type { ClientEvents, ClientStatus } from '../client-events.ts'
import type { Settings } from '../settings.ts'
import { startTimer } from '../timers.ts'
import { changedKeys, type FlagState } from './flag-state.ts'

/** The definitions in use, the status of the client, and who waits for either. */
export class CurrentDefinitions {
  #state: FlagState | undefined
  #status: ClientStatus = 'starting'
  #projectId: number | undefined
  readonly #settings: Settings
  readonly #listeners: { [Name in keyof ClientEvents]: Set<ClientEvents[Name]> } = {
    change: new Set(),
    status: new Set(),
  }
  readonly #waiting = new Set<() => void>()
  #cancelStale = () => {}

  constructor(settings: Settings) {
    this.#settings = settings
  }

  get state(): FlagState | undefined {
    return this.#state
  }

  get status(): ClientStatus {
    return this.#status
  }

  get projectId(): number | undefined {
    return this.#projectId
  }

  /** Whether what the server has sent is in use. */
  get isFromServer(): boolean {
    return this.#state !== undefined && this.#status !== 'cached'
  }

  /** Definitions of the server, which confirms them afterwards. */
  useReceived(next: FlagState): void {
    this.#use(next, () => {})
  }

  /** Those of the bootstrap or the cache. Invalid ones are reported and leave what is in use. */
  useStored(read: () => FlagState): void {
    try {
      this.#use(read(), () => {
        this.#setStatus('cached')
        this.#watchForSilence()
      })
    } catch (error) {
      this.#settings.report(error)
    }
  }

  /** The server has confirmed that the definitions are current. */
  confirm(): void {
    if (this.#state === undefined) return
    this.#watchForSilence()
    this.#setStatus('ready')
  }

  /** The server has sent newer definitions that cannot be used. */
  markStale(): void {
    if (this.#state !== undefined) this.#setStatus('stale')
  }

  refuse(): void {
    this.#setStatus('refused')
    this.#endWaiting()
  }

  close(): void {
    this.#setStatus('closed')
    this.#cancelStale()
    this.#endWaiting()
  }

  /** Resolves with whether there are definitions: when they arrive, when the key is refused, or after the time. */
  async ready(timeoutMilliseconds: number): Promise<boolean> {
    if (this.#state !== undefined) return true
    if (this.#status === 'refused' || this.#status === 'closed') return false
    return new Promise(resolve => {
      const finish = () => {
        cancel()
        this.#waiting.delete(finish)
        resolve(this.#state !== undefined)
      }
      const cancel = startTimer(finish, timeoutMilliseconds, { isAwaited: true })
      this.#waiting.add(finish)
    })
  }

  on<Name extends keyof ClientEvents>(name: Name, listener: ClientEvents[Name]): () => void {
    this.#listeners[name].add(listener)
    return () => this.#listeners[name].delete(listener)
  }

  #use(next: FlagState, updateStatus: () => void): void {
    const keys = changedKeys(this.#state, next)
    this.#state = next
    this.#projectId = projectIdOf(next) ?? this.#projectId
    updateStatus()
    this.#endWaiting()
    if (keys.length > 0) this.#emit('change', keys)
  }

  #emit<Name extends keyof ClientEvents>(name: Name, ...values: Parameters<ClientEvents[Name]>): void {
    for (const listener of this.#listeners[name]) {
      try {
        ;(listener as (...args: unknown[]) => void)(...values)
      } catch (error) {
        this.#settings.report(error)
      }
    }
  }

  #setStatus(next: ClientStatus): void {
    if (this.#status === next || this.#status === 'closed') return
    this.#status = next
    this.#emit('status', next)
  }

  #watchForSilence(): void {
    this.#cancelStale()
    this.#cancelStale = startTimer(() => this.#setStatus('stale'), this.#settings.staleMilliseconds)
  }

  #endWaiting(): void {
    for (const finish of [...this.#waiting]) finish()
  }
}

/** The wire names the project in each flag. */
function projectIdOf({ flags }: FlagState): number | undefined {
  const [first] = flags.values()
  if (first === undefined) return undefined
  const { team_id: id } = JSON.parse(first.json) as { team_id?: unknown }
  return typeof id === 'number' ? id : undefined
}
