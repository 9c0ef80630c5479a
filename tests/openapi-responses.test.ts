import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Reply } from '../packages/server/src/testing/scenario.ts'
import { type Document, schemaChecker } from './openapi-document.ts'
import { type Program, startProgram } from './program/start-program.ts'

/** The requests of the API tutorial: what a server returns is what its OpenAPI document says. */
describe('responses of a running server', () => {
  let s: Program
  let check: (method: string, path: string, reply: Reply) => string[]
  beforeAll(async () => {
    s = await startProgram('sqlite')
    check = responseChecker((await s.get('/api/schema/')).body)
  })
  afterAll(() => s.close())

  it('match the documented schemas', async () => {
    const faults: string[] = []
    const call = async (method: 'get' | 'post' | 'patch' | 'delete', path: string, body?: unknown) => {
      const reply = await (method === 'get' || method === 'delete' ? s[method](path) : s[method](path, body))
      faults.push(...check(method, path, reply))
      return reply.body
    }
    const flags = `${s.project}/feature_flags`
    const plugins = `${s.organization}/plugins`

    const checkout = await call('post', `${flags}/`, {
      key: 'new-checkout',
      filters: { groups: [{ properties: [], rollout_percentage: 100 }] },
      rollback_conditions: { conditions: [{ metric: 'error_rate', operator: 'gt', threshold: 0.05 }] },
    })
    await call('post', `${flags}/`, { key: 'new-checkout' })
    await call('post', `${flags}/`, {
      key: 'pricing-test',
      filters: {
        groups: [{ properties: [{ key: 'plan', operator: 'exact', value: 'pro' }], rollout_percentage: 100 }],
        multivariate: {
          variants: [
            { key: 'control', rollout_percentage: 50 },
            { key: 'large-button', rollout_percentage: 50 },
          ],
        },
        payloads: { 'large-button': { size: 24 } },
        'unknown key': 1,
      },
    })
    const flag = `${flags}/${checkout.id}`
    await call('get', `${flags}/?limit=1&search=checkout`)
    await call('patch', `${flag}/`, { tags: ['checkout', 'q3'] })
    await call('patch', `${flag}/`, { tags: ['launch'], version: 1 })
    await call('get', `${flag}/`)
    await call('get', `${flag}/status/`)
    await call('get', `${flag}/versions/`)
    await call('get', `${flag}/rollback/`)
    await call('get', `${flag}/dependent_flags/`)
    await call('post', '/flags/?v=2', { token: s.projectToken, distinct_id: 'user-1' })
    await call('post', '/flags/?v=1', { token: s.projectToken, distinct_id: 'user-1' })
    await call('post', '/decide/?v=3', { token: s.projectToken, distinct_id: 'user-1' })
    await call('post', '/capture/', { api_key: s.projectToken, event: 'x', distinct_id: 'user-1' })
    await call('post', '/ofrep/v1/evaluate/flags/', { context: { targetingKey: 'user-1' } })
    await call('post', '/ofrep/v1/evaluate/flags/none/', { context: { targetingKey: 'user-1' } })
    await call('get', `/flags/definitions/?token=${s.projectToken}&send_cohorts`)
    await call('get', `/array/${s.projectToken}/config/`)
    await call('get', `${flags}/evaluation_reasons/?distinct_id=user-1&explain=true`)
    await call('get', `${flags}/my_flags/`)
    await call('get', `${flags}/local_evaluation/?send_cohorts`)
    await call('post', `${flags}/user_blast_radius/?compare_to=${checkout.id}`, {
      filters: { groups: [{ properties: [], rollout_percentage: 10 }] },
    })
    await call('get', `${flag}/activity/?limit=1`)
    await call('get', `${flags}/activity/`)
    const { cohort } = await call('post', `${flag}/create_static_cohort_for_flag/`)
    await call('get', `${s.project}/cohorts/${cohort.id}/`)
    await call('post', `${s.project}/cohorts/`, {
      name: 'Beta',
      filters: {
        properties: { type: 'OR', values: [{ type: 'AND', values: [{ key: 'plan', operator: 'exact', value: 'b' }] }] },
      },
    })
    await call('get', `${s.project}/cohorts/`)
    const { dashboard } = await call('post', `${flag}/dashboard/`)
    await call('post', `${flag}/enrich_usage_dashboard/`)
    await call('get', `${s.project}/dashboards/${dashboard.id}/`)
    await call('delete', `${flag}/`)
    await call('patch', `${flag}/`, { deleted: true })
    await call('patch', `${flag}/`, { deleted: false })

    await call('get', '/api/users/@me/')
    await call('get', `${s.organization}/`)
    await call('get', '/api/projects/')
    const role = await call('post', `${s.organization}/roles/`, { name: 'Checkout team' })
    const grant = await call('post', `${flag}/role_access/`, { role_id: role.id })
    await call('get', `${flag}/role_access/`)
    await call('get', `${flag}/role_access/${grant.id}/`)
    await call('delete', `${flag}/role_access/${grant.id}/`)
    await call('get', `${s.organization}/feature_flags/pricing-test/`)
    const staging = await call('post', '/api/projects/', { name: 'Staging' })
    await call('post', `${s.organization}/feature_flags/copy_flags/`, {
      feature_flag_key: 'pricing-test',
      from_project: s.projectId,
      target_project_ids: [staging.id],
    })
    const change = await call('post', `${s.project}/scheduled_changes/`, {
      record_id: checkout.id,
      payload: { operation: 'update_status', value: true },
      scheduled_at: '2100-01-01T00:00:00Z',
    })
    await call('get', `${s.project}/scheduled_changes/${change.id}/`)

    const plugin = await call('post', `${plugins}/`, { name: 'Add a greeting', plugin_type: 'source' })
    await call('get', `${plugins}/`)
    await call('get', `${plugins}/${plugin.id}/`)
    await call('patch', `${plugins}/${plugin.id}/update_source/`, {
      'plugin.json': '{"name": "Add a greeting", "config": []}',
      'index.ts': 'export function processEvent(event: any) { return event }',
    })
    await call('get', `${plugins}/${plugin.id}/source/`)
    await call('patch', `${plugins}/${plugin.id}/`, { description: 'Adds a greeting to every event' })
    await call('get', `${plugins}/${plugin.id}/check_for_updates/`)
    await call('post', `${plugins}/${plugin.id}/upgrade/`)
    for (const list of ['unused', 'repository', 'activity']) await call('get', `${plugins}/${list}/`)
    const configs = `${s.project}/plugin_configs`
    const config = await call('post', `${configs}/`, { plugin: plugin.id, enabled: true, order: 1 })
    for (const list of ['', 'jobs/', 'logs/', 'metrics/']) await call('get', `${configs}/${config.id}/${list}`)
    await call('delete', `${plugins}/${plugin.id}/`)
    await call('post', '/api/personal_api_keys/', { label: 'CI', scopes: ['feature_flag:read'] })
    await call('get', '/api/personal_api_keys/')
    await call('get', `${s.project}/persons/`)
    await call('get', `${s.project}/groups_types/`)

    expect(faults).toEqual([])
  })
})

/** Looks the operation of a request up and validates the response against it. */
function responseChecker(document: Document): (method: string, path: string, reply: Reply) => string[] {
  const faultOf = schemaChecker(document)
  const patterns = Object.entries(document.paths)
    .map(([path, methods]) => ({ methods, pattern: new RegExp(`^${path.replace(/\{\w+\}/g, '[^/]+')}$`), path }))
    // A literal segment has precedence over a parameter.
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length)
  return (method, path, { status, text, body }) => {
    const operation = patterns.find(({ methods, pattern }) => pattern.test(path.split('?')[0]!) && methods[method])
      ?.methods[method]
    const where = `${method} ${path} ${status}`
    const given = operation?.responses[status]
    if (!given) return [`${where}: not documented`]
    const response = given.$ref ? document.components.responses[given.$ref.split('/').at(-1)!]! : given
    const content = response.content?.['application/json']
    if (!content) return text === '' ? [] : [`${where}: unexpected body`]
    const fault = faultOf(content.schema, body)
    return fault ? [`${where}: ${fault}`] : []
  }
}
