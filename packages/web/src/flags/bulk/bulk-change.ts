import { bulkFlagsMax, routes } from '@halyard/contract'
import type { Call } from '../../api/client.ts'
import type { ListedFlag } from '../optimistic-flag.ts'

/** The result of a bulk operation: each changed flag before and after, and the failures. */
export interface BulkOutcome {
  readonly changed: readonly { readonly before: ListedFlag; readonly after: ListedFlag }[]
  readonly failures: readonly BulkFailure[]
}

export interface BulkFailure {
  readonly id: number
  readonly key: string
  readonly reason: string
  /** The change request that was opened instead. */
  readonly request?: number
}

/** Progress, and whether to stop before the next request. */
export interface BulkRun {
  readonly signal: AbortSignal
  onProgress(done: number): void
}

export type BulkJob = (flags: readonly ListedFlag[], run: BulkRun) => Promise<BulkOutcome>

export type BulkChange =
  | { readonly active: boolean }
  | { readonly tags: string[]; readonly tags_action: 'add' | 'remove' }
  | { readonly deleted: true }

/** Sends as many flags per request as the server accepts; usually one request, applied atomically. */
export function changing(call: Call, projectId: string, change: BulkChange): BulkJob {
  const params = { project_id: projectId }
  const send = async (flags: readonly ListedFlag[]) => {
    const ids = flags.map(({ id }) => id)
    if ('deleted' in change) {
      const { deleted, errors } = await call(routes.flagBulk.remove, { params, body: { ids } })
      return { results: deleted.map(({ id }) => ({ id, deleted: true })), errors }
    }
    const { updated, errors } = await call(routes.flagBulk.update, { params, body: { ids, ...change } })
    return { results: updated, errors }
  }
  return async (flags, { signal, onProgress }) => {
    const byId = new Map(flags.map(flag => [flag.id, flag]))
    const changed: { before: ListedFlag; after: ListedFlag }[] = []
    const failures: BulkFailure[] = []
    for (let done = 0; done < flags.length && !signal.aborted; done += bulkFlagsMax) {
      onProgress(done)
      const { results, errors } = await send(flags.slice(done, done + bulkFlagsMax))
      for (const result of results) {
        const before = byId.get(result.id)
        if (before) changed.push({ before, after: { ...before, ...result } })
      }
      for (const { id, reason, change_request: request } of errors) {
        const key = byId.get(id)?.key ?? `#${id}`
        failures.push({ id, key, reason, ...(request !== undefined && { request }) })
      }
    }
    return { changed, failures }
  }
}

const requestsAtOnceMax = 6

/**
 * For actions without a bulk endpoint: one request per flag, a few in parallel, so that one failure does not stop the
 * rest.
 */
export function eachOf(work: (flag: ListedFlag) => Promise<ListedFlag>, reasonOf: (error: unknown) => string): BulkJob {
  return async (flags, { signal, onProgress }) => {
    const waiting = [...flags]
    const changed: { before: ListedFlag; after: ListedFlag }[] = []
    const failures: BulkFailure[] = []
    const worker = async () => {
      for (let flag = waiting.shift(); flag && !signal.aborted; flag = waiting.shift()) {
        try {
          changed.push({ before: flag, after: await work(flag) })
        } catch (error) {
          failures.push({ id: flag.id, key: flag.key, reason: reasonOf(error) })
        }
        onProgress(changed.length + failures.length)
      }
    }
    await Promise.all(Array.from({ length: requestsAtOnceMax }, worker))
    return { changed, failures }
  }
}

/** The inverse change, and the flags that the original one really changed. */
export function opposite(
  change: BulkChange,
  { changed }: BulkOutcome,
): { change: BulkChange; flags: ListedFlag[] } | undefined {
  if ('deleted' in change) return undefined
  const isDifferent = ({ before, after }: { before: ListedFlag; after: ListedFlag }) =>
    'active' in change ? before.active !== after.active : before.tags.length !== after.tags.length
  const flags = changed.filter(isDifferent).map(({ after }) => after)
  if ('active' in change) return { change: { active: !change.active }, flags }
  return { change: { ...change, tags_action: change.tags_action === 'add' ? 'remove' : 'add' }, flags }
}
