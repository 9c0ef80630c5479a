import { beforeAll, expect, it } from 'vitest'
import { instantOf } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Actor, Project } from '../../tenancy.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'
import { copyFlag } from '../flags/copies/copy-flag.ts'
import type { FlagGuard, FlagSave } from '../flags/flag-guard.ts'
import { planFlagUpdate } from '../flags/plan-flag.ts'
import { hashSecret } from '../identity/secret.ts'
import { createGatedWrites } from './gated-writes.ts'

onEachDatabase('flags that a guard checks', dialect => {
  const s = suiteScenario(dialect)
  let actor: Actor
  let project: Project
  beforeAll(async () => {
    await s.halyard.database.read(async tx => {
      actor = (await tx.identity.findActor(hashSecret(s.key)))!.actor
      project = (await tx.projects.find(s.projectId))!
    })
  })

  const now = () => instantOf(new Date())
  const writesWith = (guard: FlagGuard) =>
    createGatedWrites({ database: s.halyard.database, guard, measure: async () => undefined, now })
  const make = async (key: string, more = {}) => (await s.post(`${s.project}/feature_flags/`, { key, ...more })).body
  const read = async (id: number) => (await s.get(`${s.project}/feature_flags/${id}/`)).body
  const guardOf = (check: (save: FlagSave) => Promise<void>): FlagGuard & { readonly checked: FlagSave[] } => {
    const checked: FlagSave[] = []
    return {
      checked,
      isActive: () => true,
      async check(save) {
        checked.push(save)
        await check(save)
      },
    }
  }
  const rename = (guard: FlagGuard, id: number, name: string) =>
    writesWith(guard).saveFlag(
      { actor, headers: {} },
      async tx => {
        const stored = (await tx.flags.find(project.id, id))!
        return planFlagUpdate(tx, actor, project, { stored, patch: { name } }, now())
      },
      flag => flag,
    )

  it('are checked once, as they will be saved, before the transaction that saves them', async () => {
    const { id } = await make('checked')
    const during: unknown[] = []
    const guard = guardOf(async () => {
      during.push((await read(id)).name)
      // Another writer is not kept waiting.
      await make('written-meanwhile')
    })
    await rename(guard, id, 'renamed')
    expect(during).toEqual([''])
    expect(guard.checked).toMatchObject([{ stored: { version: 1 }, flag: { name: 'renamed', version: 2 } }])
    expect(await read(id)).toMatchObject({ name: 'renamed', version: 2 })
  })

  it('are not saved when the guard objects', async () => {
    const { id } = await make('rejected')
    const guard = guardOf(async () => {
      throw invalid(null, 'rejected', 'No.')
    })
    await expect(rename(guard, id, 'renamed')).rejects.toMatchObject({ kind: 'invalid', message: 'No.' })
    expect(await read(id)).toMatchObject({ name: '', version: 1 })
  })

  it('are checked again when another writer changed them, and keep both changes', async () => {
    const { id } = await make('moved')
    const guard = guardOf(async () => {
      if (guard.checked.length === 1) await s.patch(`${s.project}/feature_flags/${id}/`, { tags: ['other'] })
    })
    await rename(guard, id, 'renamed')
    expect(guard.checked.map(save => save.stored?.version)).toEqual([1, 2])
    expect(await read(id)).toMatchObject({ name: 'renamed', tags: ['other'], version: 3 })
  })

  it('are left alone with a conflict when they keep changing', async () => {
    const { id } = await make('busy')
    const guard = guardOf(async () => {
      await s.patch(`${s.project}/feature_flags/${id}/`, { tags: [`change ${guard.checked.length}`] })
    })
    await expect(rename(guard, id, 'renamed')).rejects.toMatchObject({ kind: 'conflict' })
    expect(guard.checked).toHaveLength(3)
    expect(await read(id)).toMatchObject({ name: '', tags: ['change 3'], version: 4 })
  })

  it('are checked once when they are copied together with a new cohort', async () => {
    const { body: cohort } = await s.post(`${s.project}/cohorts/`, { name: 'copied along', is_static: true })
    await make('copied', {
      filters: { groups: [{ properties: [{ key: 'id', type: 'cohort', value: cohort.id }] }] },
    })
    const { body: target } = await s.post('/api/projects/', { name: 'target' })
    const guard = guardOf(async () => {})
    const copy = { key: 'copied', fromProjectId: s.projectId, targetProjectIds: [target.id], isDisabled: false }
    const [made] = await writesWith(guard).saveMany({ actor, headers: {} }, async gate => {
      const organization = (await gate.tx.organizations.find(project.organizationId))!
      return copyFlag(gate, actor, organization, copy)
    })
    expect(guard.checked).toHaveLength(1)
    expect(made!.flag).toMatchObject({ key: 'copied', projectId: target.id, version: 1 })
  })
})
