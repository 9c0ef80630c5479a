import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, describe, expect, it, vi } from 'vitest'
import { testPlugin } from '../../cli/plugins.ts'
import { instantOf, plusMilliseconds } from '../../instant.ts'
import { createWorkerSandbox } from '../../sandbox/worker-sandbox.ts'
import { type Scenario, startScenario } from '../../testing/scenario.ts'
import { sampleInput } from './runtime/sample-input.ts'
import { tryPlugin } from './runtime/try-plugin.ts'

const examples = resolve(import.meta.dirname, '../../../../../examples/plugins')
const sandbox = createWorkerSandbox({ workersMax: 1 })
afterAll(() => sandbox.close())

const attempt = (name: string, config: object = {}) =>
  tryPlugin(sandbox, join(examples, name), { ...sampleInput, config: { ...config } })

describe('examples/plugins', () => {
  it('flag-chat posts what changed, with before and after', async () => {
    const { calls, seen } = await attempt('flag-chat', { webhookUrl: 'https://hooks.slack.com/x', only: 'new-' })
    expect(calls.map(call => call.outcome)).toEqual([{ value: null }, { value: null }, { value: null }])
    expect(seen.fetched.map(({ url }) => url)).toEqual(['https://hooks.slack.com/x', 'https://hooks.slack.com/x'])
    const { text } = JSON.parse(seen.fetched[1]!.options.body!)
    expect(text).toBe(
      'Dana (dana@example.com) updated the flag `new-checkout` (version 2)\n' +
        '• filters: {"groups":[{"properties":[],"rollout_percentage":10}]} → {"groups":[{"properties":[],"rollout_percentage":50}]}',
    )
    const other = await attempt('flag-chat', { webhookUrl: 'https://hooks.slack.com/x', only: 'other-' })
    expect(other.seen.fetched).toEqual([])
  })

  it('flag-guardrails requires owners and small steps', async () => {
    const { calls } = await attempt('flag-guardrails')
    expect(calls.slice(1).map(call => call.outcome)).toEqual([
      { value: 'Add a tag that names the owner of this flag, such as owner:payments.' },
      {
        value: 'The rollout would change from 10% to 50%; at most 30 percentage points per change are allowed.',
      },
    ])
    const lenient = await attempt('flag-guardrails', { ownerPrefix: '', jumpMax: '40' })
    expect(lenient.calls.slice(1).map(call => call.outcome)).toEqual([{ value: null }, { value: null }])
  })

  it('flag-history writes a line for each flag and sends the file by a job', async () => {
    const { calls, seen } = await attempt('flag-history', { target: 'https://api.github.com/x', token: 't' })
    expect(seen.jobs).toHaveLength(1)
    expect(calls.at(-1)).toMatchObject({ method: 'job Send now', outcome: { value: null } })
    const sent = seen.fetched[0]!
    expect([sent.options.method, sent.options.headers.authorization]).toEqual(['PUT', 'Bearer t'])
    expect(sent.options.body).toBe(
      '{"key":"new-checkout","active":true,"deleted":false,"ensure_experience_continuity":false,' +
        '"filters":{"groups":[{"properties":[],"rollout_percentage":50}]},"name":"The new checkout",' +
        '"rollback_conditions":{},"tags":["owner:payments"]}\n',
    )
  })
})

describe('halyard plugins test', () => {
  const lines: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation(line => lines.push(String(line)))
  afterEach(() => {
    lines.length = 0
    process.exitCode = undefined
  })
  afterAll(() => log.mockRestore())

  it.each(readdirSync(examples))('tries %s', async name => {
    await testPlugin(join(examples, name), {})
    expect(process.exitCode).toBeUndefined()
    expect(lines.join('\n')).toContain('methods:')
  })

  it('reports errors', async () => {
    await expect(testPlugin(join(examples, 'none'), {})).rejects.toThrow('There is no folder')
    await expect(testPlugin(examples, { input: 'none.json' })).rejects.toThrow('cannot be read')
  })
})

describe('from the catalog to a running plugin', () => {
  let s: Scenario
  afterAll(() => s?.close())

  it('our own examples install from the plugin directory and guard flags', async () => {
    s = await startScenario('sqlite', { environment: { HALYARD_PLUGIN_DIR: examples } })
    const plugins = `${s.organization}/plugins/`
    const made = await s.post(plugins, { plugin_type: 'repository', name: 'Flag guardrails' })
    expect(made.body.url).toBe('file:flag-guardrails')
    const installed = await s.post(`${plugins}${made.body.id}/upgrade/`)
    expect(installed.body).toMatchObject({ plugin_type: 'repository', capabilities: { methods: ['beforeFlagSave'] } })
    await s.post(`${s.project}/plugin_configs/`, { plugin: made.body.id, enabled: true })
    const flags = `${s.project}/feature_flags/`
    const refused = await s.post(flags, { key: 'a' })
    expect(refused.body.detail).toBe(
      'Flag guardrails: Add a tag that names the owner of this flag, such as owner:payments.',
    )
    const filters = { groups: [{ properties: [], rollout_percentage: 20 }] }
    expect((await s.post(flags, { key: 'a', tags: ['owner:me'], filters })).status).toBe(201)

    const history = await s.post(`${plugins}install/`, { url: 'file:flag-history' })
    expect(history.body).toMatchObject({ plugin_type: 'local', name: 'Flag history file', tag: null })
    const config = await s.post(`${s.project}/plugin_configs/`, { plugin: history.body.id, enabled: true })
    await s.post(flags, { key: 'b', tags: ['owner:me'], filters })
    const now = instantOf(new Date())
    for (const after of [0, 0, 11_000]) await s.halyard.plugins.runtime.tick(plusMilliseconds(now, after))
    const logs = async () => (await s.get(`${s.project}/plugin_configs/${config.body.id}/logs/`)).body.results
    await expect.poll(logs).toMatchObject([{ message: 'flags.jsonl has 1 flags' }])
  })
})
