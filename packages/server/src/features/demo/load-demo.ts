import { refusalOf } from '../../domain/approval.ts'
import { invalid, Problem } from '../../problem.ts'
import type { Actor, Project } from '../../tenancy.ts'
import { requireNoViewer } from '../access/grants.ts'
import { patchFromWire as cohortPatchFromWire, newContent } from '../cohorts/cohort-resource.ts'
import { createCohort } from '../cohorts/create-cohort.ts'
import { noPeople } from '../cohorts/members/members.ts'
import { patchFromWire } from '../flags/flag-resource.ts'
import type { FlagGate } from '../flags/flag-writes.ts'
import { type PlannedFlag, planFlagCreation, planFlagUpdate } from '../flags/plan-flag.ts'
import { announceProject } from '../projects/create-project.ts'
import { demoCohort } from './demo-content.ts'
import { demoStory } from './demo-story.ts'

/** Creates the demo's cohort and its flags with their history. Throws `invalid` when the project has flags. */
export async function loadDemo(gate: FlagGate, actor: Actor, project: Project): Promise<{ readonly flags: number }> {
  const { tx, now } = gate
  await requireNoViewer(tx, actor, project)
  await tx.projects.holdReferences(project.id)
  if ((await tx.flags.listLive(project.id)).length > 0)
    throw invalid(null, 'not_empty', 'The project has flags. Load the demo into an empty project.')
  const company = await tx.groupTypes.ensure(project.id, 'company')
  if (!company) throw invalid(null, 'not_empty', 'The project has five group types. Load the demo into a new project.')
  if (company.isNew) await announceProject(tx, project, now)
  const content = newContent(cohortPatchFromWire(demoCohort))
  const { cohort } = await createCohort(tx, actor, project, { content, isStatic: false, people: noPeople }, now)
  const ids = new Map<string, number>()
  for (const { create, change } of demoStory({ cohortId: cohort.id, companyIndex: company.index })) {
    if (create) {
      const { key, ...body } = create
      const patch = { ...patchFromWire(body), key }
      ids.set(key, await save(gate, await planFlagCreation(tx, actor, project, { patch }, now)))
    }
    if (change) {
      const stored = (await tx.flags.find(project.id, ids.get(change.key) ?? 0))!
      await save(gate, await planFlagUpdate(tx, actor, project, { stored, patch: patchFromWire(change.patch) }, now))
    }
  }
  return { flags: ids.size }
}

async function save(gate: FlagGate, planned: PlannedFlag): Promise<number> {
  const saved = await gate.saveFlag(planned)
  if (saved.kind === 'saved') return saved.value.id
  if (saved.kind !== 'needs_approval') throw refusalOf(saved)
  throw new Problem('conflict', 'An approval policy holds for this project. Load the demo before you add policies.')
}
