import { type CopiedFlag, copyTargetsMax, type FlagCopies, routes } from '@halyard/contract'
import { wantsRepresentation } from '../../../http/routes/prefer.ts'
import { answer, type ServeRoute } from '../../../http/routes/serve-route.ts'
import { invalid, missing } from '../../../problem.ts'
import type { Database } from '../../../stores.ts'
import { levelInProject } from '../../../tenancy.ts'
import { canEditFlag } from '../../access/access.ts'
import { grantsFor } from '../../access/grants.ts'
import { userToWire } from '../../identity/user-resource.ts'
import { flagToWire } from '../flag-resource.ts'
import type { FlagWrites } from '../flag-writes.ts'
import { type CopiedInto, copyFlag } from './copy-flag.ts'

interface Deps {
  readonly database: Database
  readonly writes: FlagWrites
}

/** Contract 4.1. The status is the result; a client that prefers it gets PostHog's JSON as well. */
export function serveOrganizationFlags(serve: ServeRoute, { database, writes }: Deps): void {
  const r = routes.organizationFlags

  serve(r.byKey, async ({ actor, organization, params, headers }) => {
    const flags = await database.read(tx => tx.flags.listLiveByKey(organization.id, params.feature_flag_key))
    const visible = flags.filter(
      flag => levelInProject(actor, { id: flag.projectId, organizationId: organization.id }) !== undefined,
    )
    if (visible.length === 0) throw missing('Flag')
    return emptyUnlessWanted(headers.prefer, () =>
      visible.map(flag => ({
        flag_id: flag.id,
        team_id: flag.projectId,
        created_by: userToWire(flag.createdBy),
        filters: flag.filters,
        created_at: flag.createdAt,
        active: flag.active,
      })),
    )
  })

  serve(r.copy, async request => {
    const { actor, organization, body, headers } = request
    const copy = {
      key: body.feature_flag_key,
      fromProjectId: body.from_project,
      targetProjectIds: body.target_project_ids,
      isDisabled: body.disable_copied_flag ?? false,
    }
    if (copy.targetProjectIds.length > copyTargetsMax) {
      throw invalid('target_project_ids', 'max_length', `A flag is copied into at most ${copyTargetsMax} projects.`)
    }
    const done = await writes.saveMany(request, async gate => {
      const copies = await copyFlag(gate, actor, organization, copy)
      const grants = await grantsFor(gate.tx, actor, { organizationId: organization.id })
      const success = copies.map(({ flag }) => flagToWire(flag, canEditFlag(grants, flag)))
      return { success, failed: [], copies: copies.map(copiedToWire) } satisfies FlagCopies
    })
    return emptyUnlessWanted(headers.prefer, () => done)
  })
}

const copiedToWire = ({ flag, replacedVersion, replacedSchema, createdCohortIds }: CopiedInto): CopiedFlag => ({
  project_id: flag.projectId,
  flag_id: flag.id,
  version: flag.version,
  replaced_version: replacedVersion ?? null,
  ...(replacedSchema !== undefined && { replaced_payload_schema: replacedSchema }),
  created_cohort_ids: createdCohortIds,
})

/** Both respond in the same way. */
type Empty = typeof routes.organizationFlags.copy

function emptyUnlessWanted(prefer: string | string[] | undefined, body: () => unknown) {
  const vary = { vary: 'Prefer' }
  if (!wantsRepresentation(prefer)) return answer<Empty>({ status: 200, headers: vary })
  return answer<Empty>({
    status: 200,
    headers: { ...vary, 'preference-applied': 'return=representation' },
    body: Buffer.from(JSON.stringify(body())),
  })
}
