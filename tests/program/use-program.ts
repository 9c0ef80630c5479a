import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { startRegistryServer } from '../../packages/server/src/testing/registry-server.ts'
import { type Program, startProgram } from './start-program.ts'

/** What a user does on the first day, in one go, with a program that was started from outside. */
export async function useProgram(dialect: 'sqlite' | 'postgres', programPath?: string): Promise<void> {
  const registry = await startRegistryServer()
  registry.publish('@test/marker', '1.0.0', {
    'plugin.json': { name: 'Marker', main: 'index.ts' },
    'index.ts': 'export const processEvent = (event: any) => ({ ...event, $set: { marked: true } })',
  })
  const program = await startProgram(
    dialect,
    { HALYARD_NPM_REGISTRY: registry.url, HALYARD_SCHEDULER_SECONDS: '1' },
    programPath,
  )
  try {
    await evaluateFlag(program)
    await installPlugin(program)
    await importFlags(program)
    await approveChange(program)
    await openPages(program)
  } finally {
    await program.close()
    await registry.close()
  }
}

const rollout = (percentage: number) => ({ groups: [{ properties: [], rollout_percentage: percentage }] })

async function evaluateFlag(s: Program): Promise<void> {
  const created = await s.post(`${s.project}/feature_flags/`, { key: 'new-checkout', filters: rollout(100) })
  expect(created.status).toBe(201)
  const evaluate = async () => {
    const { body } = await s.as(undefined).post('/flags/?v=2', { token: s.projectToken, distinct_id: 'ada' })
    // A flag that is switched off is not part of the response.
    return body.flags['new-checkout']?.enabled ?? false
  }
  expect(await evaluate()).toBe(true)
  await s.patch(`${s.project}/feature_flags/${created.body.id}/`, { active: false })
  expect(await evaluate()).toBe(false)
}

async function installPlugin(s: Program): Promise<void> {
  const url = 'https://www.npmjs.com/package/@test/marker'
  const installed = await s.post(`${s.organization}/plugins/install/`, { url })
  expect(installed, installed.text).toMatchObject({ status: 201, body: { tag: '1.0.0' } })
  const config = { plugin: installed.body.id, enabled: true, order: 0 }
  expect((await s.post(`${s.project}/plugin_configs/`, config)).status).toBe(201)
  const isMarked = async () => {
    const batch = [{ event: 'visited', distinct_id: 'visitor', properties: {} }]
    await s.as(undefined).post('/batch/', { api_key: s.projectToken, batch })
    return (await s.get(`${s.project}/persons/?distinct_id=visitor`)).body.results[0]?.properties.marked
  }
  await expect.poll(isMarked).toBe(true)
}

async function importFlags(s: Program): Promise<void> {
  const guide = readFileSync(join(import.meta.dirname, '../../docs/migrate/launchdarkly.md'), 'utf8')
  const content: unknown = JSON.parse(/```json\n([\s\S]*?)```/.exec(guide)![1]!)
  const { body: project } = await s.post('/api/projects/', { name: 'Imported' })
  const body = { source: 'launchdarkly', content, mapping: [{ project: project.id }] }
  const planned = await s.post(`${s.organization}/imports/`, body)
  expect(planned.status, planned.text).toBe(201)
  expect((await s.post(`${s.organization}/imports/${planned.body.id}/apply/`)).status).toBe(200)
  expect((await s.get(`/api/projects/${project.id}/feature_flags/`)).body.count).toBeGreaterThan(0)
}

async function approveChange(s: Program): Promise<void> {
  const ann = await s.join('ann', 8)
  const policy = { action_key: '*', approver_config: { users: [ann.id] } }
  const { body: flag } = await s.post(`${s.project}/feature_flags/`, { key: 'reviewed', filters: rollout(10) })
  expect((await s.post(`${s.project}/approval_policies/`, policy)).status).toBe(201)
  const gated = await s.patch(`${s.project}/feature_flags/${flag.id}/`, { filters: rollout(50) })
  expect(gated.status).toBe(409)
  const approved = await ann.post(`${s.project}/change_requests/${gated.body.change_request.id}/approve/`, {})
  expect(approved.body, approved.text).toMatchObject({ status: 'applied' })
  expect((await s.get(`${s.project}/feature_flags/${flag.id}/`)).body.filters).toEqual(rollout(50))
}

async function openPages(s: Program): Promise<void> {
  const visitor = s.as(undefined)
  for (const path of ['/', '/docs/', '/api/docs/', '/api/schema/', '/static/array.js', '/metrics', '/_readyz'])
    expect((await visitor.get(path)).status, path).toBe(200)
  const script = /src="([^"]+\.js)"/.exec((await visitor.get('/')).text)![1]!
  expect((await visitor.get(script)).headers.get('content-type')).toContain('javascript')
}
