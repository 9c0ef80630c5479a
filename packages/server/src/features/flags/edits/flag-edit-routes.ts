import { routes } from '@halyard/contract'
import type { Flag, FlagPatch } from '../../../domain/flag.ts'
import type { RouteDeps } from '../../../http/routes/route-deps.ts'
import type { RouteRequest, ServeRoute } from '../../../http/routes/serve-route.ts'
import { Problem } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import { requireCanEdit } from '../../access/grants.ts'
import { flagToWire } from '../flag-resource.ts'
import { getFlag } from '../flag-routes.ts'
import type { FlagWrites } from '../flag-writes.ts'
import { type PlannedFlag, planFlagUpdate } from '../plan-flag.ts'
import { planFlagArchiving } from './archive-flag.ts'
import { addCondition, removeCondition, setPayload, setRollout, setVariantSplit } from './flag-edit.ts'

interface Deps extends RouteDeps {
  readonly writes: FlagWrites
}

type EditRoutes = typeof routes.flagEdits
type Switch = RouteRequest<
  EditRoutes['enable'] | EditRoutes['disable'] | EditRoutes['archive'] | EditRoutes['unarchive']
>

/** Serves single edits of a flag: PostHog's four switches, and small edits of its conditions, variants and payloads. */
export function serveFlagEdits(serve: ServeRoute, { database, writes, now }: Deps): void {
  const r = routes.flagEdits

  /** An unknown flag is 404 and a forbidden one 403, whatever the body. */
  const change = (request: Switch, plan: (tx: Stores, stored: Flag) => Promise<PlannedFlag>) =>
    writes.saveFlag(
      request,
      async tx => {
        const stored = await getFlag(tx, request.project, request.params.id)
        await requireCanEdit(tx, request.actor, request.project, stored)
        return plan(tx, stored)
      },
      flag => flagToWire(flag, true),
    )

  const patchWith = (request: Switch, patch: FlagPatch) =>
    change(request, (tx, stored) => planFlagUpdate(tx, request.actor, request.project, { stored, patch }, now()))

  serve(r.enable, request => patchWith(request, { active: true }))
  serve(r.disable, request => patchWith(request, { active: false }))
  serve(r.unarchive, request => patchWith(request, { archived: false }))
  serve(r.archive, request =>
    change(request, (tx, stored) => {
      const { force: isForced = false, reason = '' } = request.body
      const archiving = { stored, isForced, reason: reason.trim() }
      return planFlagArchiving(tx, request.actor, request.project, archiving, now())
    }),
  )

  serve(r.setRollout, request =>
    edit(request, flag => setRollout(flag, request.body.condition_index ?? 0, request.body.rollout_percentage)),
  )
  serve(r.addCondition, request =>
    edit(request, flag => addCondition(flag, request.body.condition, request.body.before)),
  )
  serve(r.removeCondition, request => edit(request, flag => removeCondition(flag, request.body.condition_index)))
  serve(r.setVariantSplit, request => edit(request, flag => setVariantSplit(flag, request.body.variants)))
  serve(r.setPayload, request =>
    edit(request, flag => setPayload(flag, request.body.variant ?? 'true', request.body.payload)),
  )

  async function edit(request: Edit, patchFor: (flag: Flag) => FlagPatch) {
    const { actor, project, params } = request
    const editableFlag = async (tx: Stores) => {
      const stored = await getFlag(tx, project, params.id)
      await requireCanEdit(tx, actor, project, stored)
      return stored
    }
    await database.read(editableFlag)
    const { expected_version: expected, dry_run: isDryRun } = request.body
    const plan = async (tx: Stores) => {
      const stored = await editableFlag(tx)
      if (expected !== undefined && expected !== stored.version) {
        throw new Problem('conflict', `Version ${expected} is out of date; the flag is at version ${stored.version}.`)
      }
      return planFlagUpdate(tx, actor, project, { stored, patch: patchFor(stored) }, now())
    }
    if (!isDryRun) return writes.saveFlag(request, plan, flag => flagToWire(flag, true))
    const { planned, needsApproval } = await writes.previewFlag(request, plan)
    const { stored, flag } = planned
    const version = needsApproval ? stored!.version : flag.version
    const shown = flagToWire({ ...flag, id: stored!.id, version }, true)
    return { ...shown, dry_run: true as const, requires_approval: needsApproval }
  }
}

type Edit = RouteRequest<
  | EditRoutes['setRollout']
  | EditRoutes['addCondition']
  | EditRoutes['removeCondition']
  | EditRoutes['setVariantSplit']
  | EditRoutes['setPayload']
>
