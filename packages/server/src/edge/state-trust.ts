import type { Following } from './follow-upstream.ts'
import type { Replica } from './replica.ts'
import type { StateFile } from './state-file.ts'

/** `revoked`: the upstream refuses this edge's own key. `too old`: the upstream was away for longer than the state may be used. */
export type StateStatus = 'none' | 'ok' | 'revoked' | 'too old'

/** Decides whether this edge still accepts the keys in its state, which may have been revoked since. */
export interface StateTrust {
  readonly status: StateStatus
  /** Call when the state is complete, or the upstream has refused this edge. */
  review(): void
  close(): void
}

interface Options {
  readonly replica: Replica
  readonly file: StateFile
  readonly ageMillisecondsMax: number
  readonly hasState: () => boolean
  readonly following: () => Pick<Following, 'connection' | 'currentAt'> | undefined
  readonly onError: (error: unknown) => void
}

const reviewMilliseconds = 1000
/** How often the file records that the upstream was connected. */
const recordMilliseconds = 60_000

export async function createStateTrust(options: Options): Promise<StateTrust> {
  const { replica, file, ageMillisecondsMax, hasState, following, onError } = options
  let contactAt = (await file.contactAt()) ?? Date.now()
  let recordedAt = contactAt
  let status: StateStatus = 'none'

  /** After a revocation the state on disk counts as too old, so that a restart brings no key back. */
  function record(at: number): void {
    recordedAt = at
    file.setContactAt(at).catch(onError)
  }

  function statusNow(): StateStatus {
    const { connection, currentAt } = following() ?? {}
    if (currentAt !== undefined && connection !== 'refused') contactAt = currentAt
    if (!hasState()) return 'none'
    if (connection === 'refused' || (status === 'revoked' && connection !== 'following')) return 'revoked'
    return Date.now() - contactAt > ageMillisecondsMax ? 'too old' : 'ok'
  }

  function review(): void {
    const before = status
    status = statusNow()
    replica.acceptKeys(status === 'ok' || status === 'none')
    if (status === 'revoked' && before !== 'revoked') record(0)
    else if (status === 'ok' && Math.abs(contactAt - recordedAt) > recordMilliseconds) record(contactAt)
  }

  review()
  const timer = setInterval(review, reviewMilliseconds)
  timer.unref()
  return {
    get status() {
      return status
    },
    review,
    close: () => clearInterval(timer),
  }
}
