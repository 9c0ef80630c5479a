import { noWorkerBus, type WorkerBus } from '../../worker-bus.ts'

/**
 * Progress and presence that open dashboards show, too frequent for the change log: it is not stored, and lost when a
 * node cannot be reached. Readers therefore also poll, at a long interval.
 */
export type EphemeralTopic =
  /** Work on a cohort's members has advanced, or has ended. */
  | 'cohort_progress'
  | 'cohort_count'
  /** A plugin configuration has new log entries, or other jobs. */
  | 'plugin_log'
  | 'plugin_job'
  /** Someone has opened, edits or has closed a flag in the dashboard. */
  | 'presence'

export interface EphemeralChange {
  readonly topic: EphemeralTopic
  readonly organizationId: string
  readonly projectId: number
  readonly entityId: string
  /** For other nodes: open dashboards get the topic and the ids only. */
  readonly presence?: PresenceNotice
}

/** What one open page reports. */
export interface PresenceNotice {
  readonly user: string
  readonly page: string
  readonly isEditing: boolean
  /** A renewal is no news to other people. */
  readonly kind: 'changed' | 'renewed' | 'closed'
}

export type EphemeralListener = (changes: readonly EphemeralChange[]) => void

export interface EphemeralChanges {
  /** To be called after the commit. Reaches every node, at most once a second for the same change. */
  publish(change: EphemeralChange): void
  /** Returns the unsubscribe function. */
  subscribe(listener: EphemeralListener): () => void
  /** A message of another node. */
  receive(message: string): void
  close(): void
}

interface Options {
  readonly bus?: WorkerBus
  /** Sends to all nodes; false when there is no connection to them. */
  readonly send?: (message: string) => boolean
  readonly intervalMilliseconds?: number
}

/** The first change is sent at once, further ones together after this time. */
const usualIntervalMilliseconds = 1000
const changesWaitingMax = 1000
const changesPerMessageMax = 50
/** A notification of PostgreSQL has less than 8,000 bytes. Changes are ASCII. */
const messageCharactersMax = 7900
const busTopic = 'ephemeral_changes'

export function createEphemeralChanges({
  bus = noWorkerBus,
  send = () => false,
  intervalMilliseconds = usualIntervalMilliseconds,
}: Options): EphemeralChanges {
  const listeners = new Set<EphemeralListener>()
  const waiting = new Map<string, EphemeralChange>()
  let timer: NodeJS.Timeout | undefined

  function deliver(changes: readonly EphemeralChange[]): void {
    for (const listener of listeners) listener(changes)
  }

  function flush(): void {
    timer = undefined
    if (waiting.size === 0) return
    const changes = [...waiting.values()]
    waiting.clear()
    timer = setTimeout(flush, intervalMilliseconds)
    timer.unref()
    deliver(changes)
    for (const part of messagesOf(changes)) {
      // Sibling workers receive what is sent to all nodes.
      if (!send(JSON.stringify(part))) bus.publish(busTopic, part)
    }
  }

  bus.subscribe(busTopic, changes => deliver(changes as readonly EphemeralChange[]))

  return {
    publish(change) {
      if (waiting.size >= changesWaitingMax) return
      waiting.set(keyOf(change), change)
      if (!timer) flush()
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    receive: message => deliver(readMessage(message)),
    close: () => clearTimeout(timer),
  }
}

/** A later change with the same key replaces one that waits. */
const keyOf = ({ topic, projectId, entityId, presence }: EphemeralChange): string =>
  [topic, projectId, entityId, ...(presence ? [presence.user, presence.page] : [])].join(' ')

function messagesOf(changes: readonly EphemeralChange[]): EphemeralChange[][] {
  const messages: EphemeralChange[][] = []
  let characters = 0
  for (const change of changes) {
    const size = JSON.stringify(change).length + 1
    const last = messages.at(-1)
    if (last && last.length < changesPerMessageMax && characters + size <= messageCharactersMax) {
      last.push(change)
      characters += size
    } else {
      messages.push([change])
      characters = size + 1
    }
  }
  return messages
}

/** Ignores what is not of this format: any client of the database can send to the channel. */
function readMessage(message: string): readonly EphemeralChange[] {
  try {
    const changes: unknown = JSON.parse(message)
    return Array.isArray(changes) ? changes.filter(change => typeof change?.topic === 'string') : []
  } catch {
    return []
  }
}
