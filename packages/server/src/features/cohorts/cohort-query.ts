import type { FlagQuery } from '../../evaluation/scan/scan-request.ts'
import { gatherReferences } from '../../evaluation/subjects/gather-references.ts'
import type { Stores } from '../../stores.ts'

const key = 'in the cohort'
/** No stored flag has this id. */
const noFlag = -1

/** Expresses membership in a cohort as a flag that is on for its members. Undefined when the cohort does not exist or is deleted. */
export async function cohortQuery(tx: Stores, projectId: number, cohortId: number): Promise<FlagQuery | undefined> {
  const project = await tx.projects.find(projectId)
  const [cohort] = await tx.cohorts.findLive(projectId, [cohortId])
  if (!project || !cohort) return undefined
  const filters = { groups: [{ properties: [{ key: 'id', type: 'cohort', value: cohortId, operator: 'in' }] }] }
  const { flags, cohorts } = await gatherReferences(tx, projectId, [filters])
  const { groupTypes, propertyMatchingVersion } = project
  return {
    key,
    definitions: {
      flags: [{ id: noFlag, key, active: true, filters }, ...flags],
      cohorts,
      groupTypes,
      propertyMatchingVersion,
    },
  }
}
