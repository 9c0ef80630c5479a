import { expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

onEachDatabase('loading the demo', dialect => {
  const scenario = suiteScenario(dialect)

  it('fills an empty project with flags, their history, a cohort, people and evaluations', async () => {
    const { body: project } = await scenario.post('/api/projects/', { name: 'Empty' })
    const api = `/api/projects/${project.id}`
    const loaded = await scenario.post(`${api}/load_demo/`)
    expect([loaded.status, loaded.body]).toEqual([200, { flags: 8, people: 200 }])
    const flags = (await scenario.get(`${api}/feature_flags/`)).body.results
    expect(flags).toHaveLength(8)
    const checkout = flags.find(({ key }: { key: string }) => key === 'new-checkout')
    expect(checkout.version).toBeGreaterThan(4)
    expect((await scenario.get(`${api}/cohorts/`)).body.count).toBe(1)
    await expect.poll(async () => (await scenario.get(`${api}/persons/`)).body.count).toBe(200)
    const status = async () => (await scenario.get(`${api}/feature_flags/${checkout.id}/status/`)).body.last_called_at
    await expect.poll(status).not.toBeNull()
    const entries = (await scenario.get(`${scenario.organization}/audit_log/`)).body.results
    expect(entries.filter(({ operation }: { operation: string }) => operation === 'loadDemo')).toHaveLength(1)
  })

  it('refuses a project that has flags and changes nothing', async () => {
    const { body: project } = await scenario.post('/api/projects/', { name: 'Used' })
    const api = `/api/projects/${project.id}`
    await scenario.post(`${api}/feature_flags/`, { key: 'mine' })
    const refused = await scenario.post(`${api}/load_demo/`)
    expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
      400,
      'not_empty',
      'The project has flags. Load the demo into an empty project.',
    ])
    expect((await scenario.get(`${api}/feature_flags/`)).body.count).toBe(1)
    expect((await scenario.get(`${api}/cohorts/`)).body.count).toBe(0)
    expect((await scenario.get(`${api}/persons/`)).body.count).toBe(0)
  })

  it('refuses a project whose policy asks for approval', async () => {
    const { body: project } = await scenario.post('/api/projects/', { name: 'Gated' })
    const api = `/api/projects/${project.id}`
    const approver = await scenario.join('ann')
    const policy = { action_key: '*', approver_config: { users: [approver.id], quorum: 1 } }
    expect((await scenario.post(`${api}/approval_policies/`, policy)).status).toBe(201)
    const refused = await scenario.post(`${api}/load_demo/`)
    expect([refused.status, refused.body.detail]).toEqual([409, expect.stringContaining('approval policy')])
    expect((await scenario.get(`${api}/feature_flags/`)).body.count).toBe(0)
  })
})
