import { routes } from '@halyard/contract'
import type { RouteRequest, ServeRoute } from '../../../http/routes/serve-route.ts'
import type { Instant } from '../../../instant.ts'
import { Problem } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import { requireCanEdit } from '../../access/grants.ts'
import { ApprovalRequired } from '../../change-control/authorize-write.ts'
import type { GatedWrites } from '../../change-control/gated-writes.ts'
import type { Permit } from '../../change-control/permit.ts'
import { applyPatch, type Flag, type FlagPatch } from '../flag.ts'
import { flagToWire } from '../flag-resource.ts'
import { getFlag } from '../flag-routes.ts'
import { updateFlag } from '../update-flag.ts'
import { archiveFlag } from './archive-flag.ts'
import { addCondition, removeCondition, setPayload, setRollout, setVariantSplit } from './flag-edit.ts'

interface Deps {
  readonly writes: GatedWrites
  readonly now: () => Instant
}

type Intents = typeof routes.flagIntents
type Switch = RouteRequest<Intents['enable'] | Intents['disable'] | Intents['archive'] | Intents['unarchive']>

/** Serves single edits of a flag: PostHog's four switches, and small edits of its conditions, variants and payloads. */
export function serveFlagIntents(serve: ServeRoute, { writes, now }: Deps): void {
  const r = routes.flagIntents

  /** An unknown flag is 404 and a forbidden one 403, whatever the body. */
  const change = (request: Switch, work: (tx: Stores, stored: Flag, permit: Permit) => Promise<Flag>) =>
    writes.save(request, async (tx, permit) => {
      const stored = await getFlag(tx, request.project, request.params.id)
      await requireCanEdit(tx, request.actor, request.project, stored)
      return flagToWire(await work(tx, stored, permit), true)
    })

  const patchWith = (request: Switch, patch: FlagPatch) =>
    change(request, (tx, stored, permit) =>
      updateFlag(tx, request.actor, request.project, { stored, patch }, now(), permit),
    )

  serve(r.enable, request => patchWith(request, { active: true }))
  serve(r.disable, request => patchWith(request, { active: false }))
  serve(r.unarchive, request => patchWith(request, { archived: false }))
  serve(r.archive, request =>
    change(request, (tx, stored, permit) => {
      const { force: isForced = false, reason = '' } = request.body
      const archiving = { stored, isForced, reason: reason.trim() }
      return archiveFlag(tx, request.actor, request.project, archiving, now(), permit)
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
    try {
      return await writes.save(request, async (tx, permit) => {
        const stored = await getFlag(tx, project, params.id)
        await requireCanEdit(tx, actor, project, stored)
        const { expected_version: expected, dry_run: isDryRun } = request.body
        if (expected !== undefined && expected !== stored.version) {
          throw new Problem('conflict', `Version ${expected} is out of date; the flag is at version ${stored.version}.`)
        }
        const update = { stored, patch: patchFor(stored) }
        const save = () => updateFlag(tx, actor, project, update, now(), permit)
        if (!isDryRun) return flagToWire(await save(), true)
        throw await dryRun(save, applyPatch(stored, update.patch))
      })
    } catch (error) {
      if (error instanceof DryRun) return error.body
      throw error
    }
  }
}

type Edit = RouteRequest<
  | Intents['setRollout']
  | Intents['addCondition']
  | Intents['removeCondition']
  | Intents['setVariantSplit']
  | Intents['setPayload']
>

/** Saves, so that everything is checked; the result is thrown, so that nothing is stored. */
async function dryRun(save: () => Promise<Flag>, proposed: Flag): Promise<DryRun> {
  try {
    return new DryRun(await save(), false)
  } catch (error) {
    if (error instanceof ApprovalRequired) return new DryRun(proposed, true)
    throw error
  }
}

class DryRun extends Error {
  readonly body: ReturnType<typeof flagToWire> & { readonly dry_run: true; readonly requires_approval: boolean }

  constructor(flag: Flag, requiresApproval: boolean) {
    super('A dry run stores nothing.')
    this.name = 'DryRun'
    this.body = { ...flagToWire(flag, true), dry_run: true, requires_approval: requiresApproval }
  }
}
