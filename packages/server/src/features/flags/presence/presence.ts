import { presenceSeconds } from '@halyard/contract'
import { dateOf, type Instant } from '../../../instant.ts'
import type { EphemeralChange, EphemeralChanges, PresenceNotice } from '../../../storage/changes/ephemeral-changes.ts'

/** A flag that is open in someone's dashboard. */
export interface OpenPage {
  readonly organizationId: string
  readonly projectId: number
  readonly flagId: number
  /** UUID of the user. */
  readonly user: string
  readonly page: string
  readonly isEditing: boolean
}

export interface Presence {
  /** To be repeated while the page is visible. */
  report(page: OpenPage): void
  leave(page: Omit<OpenPage, 'isEditing'>): void
  /** Who else has the flag open: editors first, then those who opened it last. */
  others(page: Pick<OpenPage, 'projectId' | 'flagId' | 'user'>): readonly Pick<OpenPage, 'user' | 'isEditing'>[]
  close(): void
}

interface Limits {
  readonly pagesMax: number
  readonly pagesPerUserMax: number
}

/** Of all nodes: each knows them all. */
const usualLimits: Limits = { pagesMax: 10_000, pagesPerUserMax: 20 }
const lifeMilliseconds = presenceSeconds * 1000
/** Other nodes are notified of renewals at most this often. */
const renewalMilliseconds = 20_000

interface Entry extends Omit<OpenPage, 'organizationId'> {
  /** Milliseconds of the last report, and of the last one that other nodes know. */
  readonly seenAt: number
  readonly sentAt: number
}

interface Deps {
  readonly ephemeral: Pick<EphemeralChanges, 'publish' | 'subscribe'>
  readonly now: () => Instant
  readonly limits?: Limits
}

/** Who has which flag open, in memory. Nodes exchange it as ephemeral changes, so it may be incomplete. */
export function createPresence({ ephemeral, now, limits = usualLimits }: Deps): Presence {
  /** The page that reported longest ago first. */
  const entries = new Map<string, Entry>()
  const milliseconds = () => dateOf(now()).getTime()
  // A clock that was set back must not keep an entry either.
  const isFresh = ({ seenAt }: Entry, at: number) => Math.abs(at - seenAt) < lifeMilliseconds

  function forgetOldest(user: string, at: number): void {
    const own: string[] = []
    for (const [key, entry] of entries) {
      if (!isFresh(entry, at)) entries.delete(key)
      else if (entry.user === user) own.push(key)
    }
    const [oldest = entries.keys().next().value] = own
    const isFull = own.length >= limits.pagesPerUserMax || entries.size >= limits.pagesMax
    if (isFull && oldest !== undefined) entries.delete(oldest)
  }
  function store(entry: Entry): void {
    const key = keyOf(entry)
    if (!entries.delete(key)) forgetOldest(entry.user, entry.seenAt)
    entries.set(key, entry)
  }
  const send = ({ organizationId, projectId, flagId, user, page, isEditing }: OpenPage, kind: PresenceNotice['kind']) =>
    ephemeral.publish({
      topic: 'presence',
      organizationId,
      projectId,
      entityId: String(flagId),
      presence: { user, page, isEditing, kind },
    })

  const unsubscribe = ephemeral.subscribe(changes => {
    const at = milliseconds()
    for (const { page, kind } of changes.flatMap(readNotice)) {
      if (kind === 'closed') entries.delete(keyOf(page))
      else store({ ...page, seenAt: at, sentAt: at })
    }
  })

  return {
    report({ organizationId, ...page }) {
      const at = milliseconds()
      const last = entries.get(keyOf(page))
      const isNews = !last || !isFresh(last, at) || last.isEditing !== page.isEditing
      const isDue = isNews || at - last.sentAt >= renewalMilliseconds
      store({ ...page, seenAt: at, sentAt: isDue ? at : last.sentAt })
      if (isDue) send({ organizationId, ...page }, isNews ? 'changed' : 'renewed')
    },
    leave(page) {
      if (entries.delete(keyOf(page))) send({ ...page, isEditing: false }, 'closed')
    },
    others({ projectId, flagId, user }) {
      const at = milliseconds()
      const people = new Map<string, boolean>()
      for (const entry of [...entries.values()].reverse()) {
        if (entry.flagId !== flagId || entry.projectId !== projectId || entry.user === user) continue
        if (isFresh(entry, at)) people.set(entry.user, entry.isEditing || people.get(entry.user) === true)
      }
      return [...people]
        .map(([uuid, isEditing]) => ({ user: uuid, isEditing }))
        .sort((a, b) => Number(b.isEditing) - Number(a.isEditing))
    },
    close: unsubscribe,
  }
}

const keyOf = ({ projectId, flagId, user, page }: Pick<OpenPage, 'projectId' | 'flagId' | 'user' | 'page'>): string =>
  `${projectId} ${flagId} ${user} ${page}`

const textCharactersMax = 64
const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= textCharactersMax

/** Any client of the database can send to the channel. */
function readNotice(change: EphemeralChange) {
  const { topic, projectId, entityId, presence } = change
  if (topic !== 'presence' || typeof projectId !== 'number' || !presence) return []
  const { user, page, isEditing, kind } = presence
  const flagId = Number(entityId)
  if (!Number.isSafeInteger(flagId) || !isText(user) || !isText(page)) return []
  return [{ kind, page: { projectId, flagId, user, page, isEditing: isEditing === true } }]
}
