import { request } from 'node:http'
import { expect, it } from 'vitest'
import { instantOf } from '../instant.ts'
import { onEachDatabase } from '../testing/databases.ts'
import { suiteScenario } from '../testing/suite-scenario.ts'

onEachDatabase('metrics of a server', dialect => {
  const s = suiteScenario(dialect)

  /** NaN while the series does not exist. */
  const value = async (series: string): Promise<number> => {
    const line = (await s.get('/metrics')).text.split('\n').find(text => text.startsWith(`${series} `))
    return Number(line?.split(' ').at(-1) ?? Number.NaN)
  }

  it('show the size of the database and its connections', async () => {
    await expect.poll(() => value('halyard_database_size_bytes{database="main"}')).toBeGreaterThan(10_000)
    const open = await value('halyard_database_pool_connections{database="main",state="idle"}')
    if (dialect === 'postgres') expect(open).toBeGreaterThan(0)
    else expect(open).toBeNaN()
  })

  it('show how current the process is and how long changes take', async () => {
    const before = await value('halyard_change_propagation_seconds_count')
    expect((await s.post(`${s.project}/feature_flags/`, { key: 'changed' })).status).toBe(201)
    expect(await value('halyard_change_propagation_seconds_count')).toBeGreaterThan(before)
    expect(await value('halyard_snapshot_age_seconds')).toBeGreaterThanOrEqual(0)
  })

  it('count jobs and failed sign-ins', async () => {
    await s.halyard.jobs.runDue(instantOf(new Date()))
    expect(await value('halyard_job_runs_total{name="trim-changes",outcome="success"}')).toBe(1)
    expect(await value('halyard_job_duration_seconds_count{name="trim-changes"}')).toBe(1)
    const wrong = { email: 'unknown@example.com', password: 'wrong' }
    for (let n = 0; n < 5; n++) await s.as(undefined).post('/api/login/', wrong)
    expect((await s.as(undefined).post('/api/login/', wrong)).status).toBe(429)
    expect(await value('halyard_sign_in_failures_total{reason="wrong_password"}')).toBeGreaterThan(0)
    expect(await value('halyard_sign_in_failures_total{reason="throttled"}')).toBeGreaterThan(0)
  })

  it('count open streams and projects in memory', async () => {
    const headers = { authorization: `Bearer ${s.projectToken}`, accept: 'text/event-stream' }
    const stream = request(`${s.url}/ofrep/v1/stream`, { headers }, response => response.resume())
    stream.on('error', () => {})
    stream.end()
    await expect.poll(() => value('halyard_streams')).toBe(1)
    expect(await value('halyard_projects_in_memory')).toBe(1)
    stream.destroy()
    await expect.poll(() => value('halyard_streams')).toBe(0)
  })
})
