import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { instantOf } from '../../instant.ts'
import { freeLeases, onEachDatabase } from '../../testing/databases.ts'
import { type OpenStream, openStream } from '../../testing/event-source.ts'
import { workerBusGroup } from '../../testing/peer-group.ts'
import { type Scenario, startScenario } from '../../testing/scenario.ts'

interface Announced {
  readonly topic: string
  readonly project: number
  readonly id: string
}

const source = `export const jobs = {
  Talk: () => { for (let line = 0; line < 500; line++) console.log('line ' + line) },
  Wait: () => { throw new RetryError('later') },
}`
const publicJobs = { Talk: { payload: {} }, Wait: { payload: {} } }

// SQLite nodes are workers of one process; PostgreSQL nodes share nothing but the database.
onEachDatabase('progress on the stream of changes', dialect => {
  let s: Scenario
  let other: Scenario
  const opened: OpenStream[] = []
  beforeAll(async () => {
    const buses = dialect === 'sqlite' ? workerBusGroup(2) : []
    s = await startScenario(dialect, { ...(buses[0] && { peers: buses[0] }) })
    other = await s.startAnother({ ...(buses[1] && { peers: buses[1] }) })
  })
  afterAll(() => s.close())
  afterEach(() => {
    for (const stream of opened.splice(0)) stream.close()
  })

  /** Collects what the stream of a node sends. */
  const follow = async (node: Scenario, key = s.key): Promise<readonly (Announced & { position: string })[]> => {
    const stream = await openStream(`${node.url}/api/changes/stream/`, { authorization: `Bearer ${key}` })
    opened.push(stream)
    await stream.next()
    const received: (Announced & { position: string })[] = []
    const collect = async () => {
      for (let event = await stream.next(); event; event = await stream.next()) {
        received.push({ ...event.data, position: event.id })
      }
    }
    void collect()
    return received
  }
  const now = () => instantOf(new Date())

  async function enablePlugin() {
    const { body: plugin } = await s.post(`${s.organization}/plugins/`, {})
    const files = { 'plugin.json': JSON.stringify({ name: `p${plugin.id}`, publicJobs }), 'index.ts': source }
    await s.patch(`${s.organization}/plugins/${plugin.id}/update_source/`, files)
    const { body: config } = await s.post(`${s.project}/plugin_configs/`, { plugin: plugin.id, enabled: true })
    const run = async (type: string) => {
      expect((await s.post(`${s.project}/plugin_configs/${config.id}/job/`, { job: { type } })).status).toBe(200)
      await s.halyard.plugins.runtime.tick(now())
    }
    return { id: String(config.id), run }
  }

  it('reports new log entries and jobs of a plugin on every node, many lines as one', async () => {
    const { id, run } = await enablePlugin()
    const [here, elsewhere] = [await follow(s), await follow(other)]
    // A node that has just started may not listen yet.
    await expect
      .poll(async () => {
        await run('Talk')
        return elsewhere.map(({ topic }) => topic)
      })
      .toEqual(expect.arrayContaining(['plugin_log', 'plugin_job']))
    for (const topic of ['plugin_log', 'plugin_job']) {
      const found = here.filter(change => change.topic === topic)
      expect(found[0]).toMatchObject({ project: s.projectId, id, position: '' })
      expect(found.length).toBeLessThan(100)
    }
    const { count } = (await s.get(`${s.project}/plugin_configs/${id}/logs/`)).body
    // A call stores a hundred lines and a note about the rest.
    expect(count).toBeGreaterThan(100)
    // Nothing is written for them.
    const stored = await s.halyard.storage.kysely.selectFrom('changes').select('topic').execute()
    expect(stored.filter(({ topic }) => /^(plugin_|cohort_)/.test(topic))).toEqual([])
  })

  it('reports a job that waits to be retried', async () => {
    const { id, run } = await enablePlugin()
    const received = await follow(s)
    await run('Wait')
    await expect.poll(() => received).toContainEqual(expect.objectContaining({ topic: 'plugin_job', id }))
    const { results } = (await s.get(`${s.project}/plugin_configs/${id}/jobs/`)).body
    expect(results).toMatchObject([{ name: 'Wait', state: 'waiting', attempts: 1 }])
  })

  it('reports the count of a cohort when it has ended, also on other nodes', async () => {
    const batch = ['a', 'b', 'c'].map(distinct_id => ({
      event: '$identify',
      distinct_id,
      properties: { $set: { plan: 'pro' } },
    }))
    await s.post('/batch/', { api_key: s.projectToken, batch })
    const values = [{ key: 'plan', type: 'person', value: 'pro', operator: 'exact' }]
    const filters = { properties: { type: 'AND', values: [{ type: 'AND', values }] } }
    const { body: cohort } = await s.post(`${s.project}/cohorts/`, { name: 'Counted', filters })
    const elsewhere = await follow(other)
    const counted = expect.objectContaining({ topic: 'cohort_count', project: s.projectId, id: String(cohort.id) })
    await freeLeases(s.halyard.storage)
    await s.halyard.jobs.runDue(now())
    await expect.poll(() => elsewhere).toContainEqual(counted)
    expect((await other.get(`${s.project}/cohorts/${cohort.id}/`)).body).toMatchObject({
      count: 3,
      is_calculating: false,
    })
  })

  it('reports nothing to users of other organizations', async () => {
    const stranger = await s.stranger(`progress-${dialect}`)
    const { id, run } = await enablePlugin()
    const [ours, theirs] = [await follow(s), await follow(s, stranger.key)]
    await run('Talk')
    await expect.poll(() => ours).toContainEqual(expect.objectContaining({ topic: 'plugin_log', id }))
    await stranger.patch('/api/users/@me/', { first_name: 'Sam' })
    await expect.poll(() => theirs.length).toBeGreaterThan(0)
    expect(theirs.filter(({ topic }) => topic !== 'identity')).toEqual([])
  })
})
