import { type CopiedFlag, routes } from '@halyard/contract'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useMessages } from '../../i18n/language.tsx'
import { useCall } from '../../services/services.ts'
import { useNotify } from '../../ui/feedback/notify.ts'
import { problemText } from '../../ui/feedback/problem-text.ts'
import { copyFlag, undoCopies } from '../copies/undo-copy.ts'
import { cacheFlags } from '../flag-cache.ts'
import type { ListedFlag } from '../optimistic-flag.ts'
import {
  type BulkChange,
  type BulkFailure,
  type BulkJob,
  type BulkOutcome,
  changing,
  eachOf,
  opposite,
} from './bulk-change.ts'

interface BulkReport {
  /** The success message. */
  readonly done: (count: number) => string
  readonly undo?: (outcome: BulkOutcome) => unknown
}

/** Runs a bulk operation with progress, cancel, one undo and a list of failures. */
export function useBulk(projectId: string, onDone: (failedIds: readonly number[]) => void) {
  const t = useMessages()
  const call = useCall()
  const queries = useQueryClient()
  const notify = useNotify()
  const [progress, setProgress] = useState<{ done: number; total: number }>()
  const [failures, setFailures] = useState<readonly BulkFailure[]>([])
  const stop = useRef<AbortController>(undefined)

  const run = async (flags: readonly ListedFlag[], job: BulkJob, { done, undo }: BulkReport) => {
    const controller = new AbortController()
    stop.current = controller
    setProgress({ done: 0, total: flags.length })
    try {
      const outcome = await job(flags, {
        signal: controller.signal,
        onProgress: count => setProgress({ done: count, total: flags.length }),
      })
      const { changed } = outcome
      cacheFlags(
        queries,
        projectId,
        changed.map(({ after }) => after),
      )
      if (changed.length > 0) {
        notify.success({ id: 'bulk', message: done(changed.length), ...(undo && { onUndo: () => undo(outcome) }) })
      }
      setFailures(outcome.failures)
      onDone(outcome.failures.map(({ id }) => id))
    } catch (error) {
      notify.fail(error)
    } finally {
      setProgress(undefined)
    }
  }

  const change = (flags: readonly ListedFlag[], wanted: BulkChange): Promise<void> =>
    run(flags, changing(call, projectId, wanted), {
      done: 'deleted' in wanted ? t.bulk.deleted : t.bulk.done,
      undo: outcome => {
        const back = opposite(wanted, outcome)
        if (back) return change(back.flags, back.change)
        return restore(outcome.changed.map(({ after }) => after))
      },
    })

  /** There is no bulk endpoint for restoring. */
  const restore = (flags: readonly ListedFlag[]): Promise<void> =>
    run(
      flags,
      eachOf(
        flag =>
          call(routes.flags.update, {
            params: { project_id: projectId, id: String(flag.id) },
            body: { deleted: false },
          }),
        error => problemText(t, error),
      ),
      {
        done: t.bulk.restored,
        undo: ({ changed }) =>
          change(
            changed.map(({ after }) => after),
            { deleted: true },
          ),
      },
    )

  const copy = (flags: readonly ListedFlag[], organizationId: string, targets: readonly number[], isOff: boolean) => {
    const copies: CopiedFlag[] = []
    const copyOne = async (flag: ListedFlag) => {
      const copying = { organizationId, key: flag.key, from: Number(projectId), targets, isOff }
      copies.push(...(await copyFlag(call, copying)))
      return flag
    }
    const undo = async () => {
      try {
        const staying = await undoCopies(call, copies)
        notify.success({ id: 'bulk', message: t.copies.undone(targets.length, staying) })
      } catch (error) {
        notify.fail(error)
      }
    }
    return run(
      flags,
      eachOf(copyOne, error => problemText(t, error)),
      { done: count => t.bulk.copied(count, targets.length), undo },
    )
  }

  return {
    change,
    restore,
    copy,
    progress,
    cancel: () => stop.current?.abort(),
    failures,
    dismissFailures: () => setFailures([]),
  }
}
