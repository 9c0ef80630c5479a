import { metricSamplesMax, type RollbackReport, routes } from '@halyard/contract'
import type { Flag } from '../../domain/flag.ts'
import type { RouteDeps } from '../../http/routes/route-deps.ts'
import type { ServeRoute } from '../../http/routes/serve-route.ts'
import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Stores } from '../../stores.ts'
import { requireCanEdit } from '../access/grants.ts'
import { getFlag } from '../flags/flag-routes.ts'
import { type ReadCondition, readConditions } from './condition.ts'
import { measure } from './measure.ts'
import { pushSamples } from './push-samples.ts'

/** Serves pushed samples and the state of rollback conditions. */
export function serveRollback(serve: ServeRoute, { database, now }: RouteDeps): void {
  const r = routes.rollback

  serve(r.push, async request => {
    const { actor, project, params } = request
    await database.read(async tx => requireCanEdit(tx, actor, project, await getFlag(tx, project, params.id)))
    const { samples } = request.body
    if (samples.length > metricSamplesMax) {
      throw invalid('samples', 'max_length', `samples can have at most ${metricSamplesMax} entries per request.`)
    }
    return database.transaction(async tx => pushSamples(tx, await getFlag(tx, project, params.id), samples, now()))
  })

  serve(r.report, ({ project, params }) =>
    database.read(async tx => {
      const flag = await getFlag(tx, project, params.id)
      const conditions: RollbackReport['conditions'] = []
      for (const [index, read] of readConditions(flag.rollbackConditions).entries()) {
        conditions.push({ index, ...(await reportOn(tx, flag, read, now())) })
      }
      return {
        performed_rollback: flag.performedRollback,
        is_watched: conditions.some(condition => condition.status !== 'inactive'),
        watched_since: flag.activeSince,
        conditions,
      }
    }),
  )
}

type ConditionReport = Omit<RollbackReport['conditions'][number], 'index'>

async function reportOn(tx: Stores, flag: Flag, read: ReadCondition, now: Instant): Promise<ConditionReport> {
  const { condition, problem } = read
  if (!condition) return { status: 'inactive', reason: problem, value: null, samples: 0, threshold: null }
  const { value, samples, isHolding } = await measure(tx, flag, condition, now)
  const measured = { value, samples, threshold: condition.threshold }
  const inactive = inactiveReason(flag)
  if (inactive) return { status: 'inactive', reason: inactive, ...measured }
  if (isHolding) return { status: 'holds', reason: 'The condition holds; the flag will be rolled back.', ...measured }
  const reason =
    samples < condition.minimumSamples
      ? `${samples} of ${condition.minimumSamples} required samples.`
      : 'The condition does not hold.'
  return { status: 'watching', reason, ...measured }
}

function inactiveReason(flag: Flag): string | undefined {
  if (flag.deleted) return 'The flag has been deleted.'
  if (flag.performedRollback) return 'The flag was rolled back; switch it on to watch it again.'
  return flag.active ? undefined : 'The flag is switched off.'
}
