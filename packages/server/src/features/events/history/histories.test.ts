import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { instantOf, plusMilliseconds } from '../../../instant.ts'
import {
  answerPersonEvents,
  type ClickHouseStandIn,
  startClickHouseStandIn,
} from '../../../testing/clickhouse-stand-in.ts'
import { onEachPersonsDatabase } from '../../../testing/databases.ts'
import { type Scenario, startScenario } from '../../../testing/scenario.ts'
import { inFlightMilliseconds } from './read-histories.ts'

const dayMilliseconds = 24 * 3_600_000
const behavior = (key: string) => ({
  ...{ type: 'behavioral', key, value: 'performed_event_multiple', operator: 'gte', operator_value: 2 },
  ...{ time_value: 30, time_interval: 'day' },
})
const filtersOf = (key: string) => ({ properties: { type: 'AND', values: [behavior(key)] } })

onEachPersonsDatabase('what people did before a cohort named it', (dialect, persons) => {
  let s: Scenario
  let clickHouse: ClickHouseStandIn
  beforeAll(async () => {
    clickHouse = await startClickHouseStandIn()
    clickHouse.answer = answerPersonEvents(clickHouse)
    s = await startScenario(dialect, { ...persons, environment: { EVENTS_URL: clickHouse.url } })
  })
  afterAll(async () => {
    await clickHouse.close()
    await s.close()
  })

  const send = async (event: string, users: readonly string[], daysAgo = 0) => {
    const timestamp = new Date(Date.now() - daysAgo * dayMilliseconds).toISOString()
    const batch = users.map(distinct_id => ({ event, distinct_id, timestamp, properties: {} }))
    const { status } = await s.as(undefined).post('/batch/', { api_key: s.projectToken, batch })
    expect(status).toBe(200)
  }
  const runJobs = (afterMilliseconds = 0) =>
    s.halyard.jobs.runDue(plusMilliseconds(instantOf(new Date()), afterMilliseconds))
  /** Forwards, then reads. */
  const readHistories = async () => {
    await runJobs()
    await runJobs(2 * inFlightMilliseconds)
  }
  const isOn = async (flag: string, distinct_id: string) => {
    const reply = await s.as(undefined).post('/flags/?v=2', { token: s.projectToken, distinct_id })
    return reply.body.flags[flag].enabled
  }
  async function target(event: string): Promise<string> {
    const { body } = await s.post(`${s.project}/cohorts/`, { name: event, filters: filtersOf(event) })
    const properties = [{ type: 'cohort', key: 'id', value: body.id, operator: 'in' }]
    await s.post(`${s.project}/feature_flags/`, { key: event, active: true, filters: { groups: [{ properties }] } })
    return `${s.project}/cohorts/${body.id}/`
  }

  it('counts in flags and in the size of the cohort, and with what they do afterwards', async () => {
    await send('bought', ['ada', 'bob', 'ada'], 3)
    await send('bought', ['carl', 'carl'], 40)
    const cohort = await target('bought')
    expect((await s.get(cohort)).body.counted_events).toEqual([
      { event: 'bought', counted_since: expect.any(String), history: { since: null, percent: 0 } },
    ])
    expect(await isOn('bought', 'ada')).toBe(false)
    await send('bought', ['dora', 'bob'])
    expect(await isOn('bought', 'bob')).toBe(false)
    await readHistories()
    const people = ['ada', 'bob', 'carl', 'dora']
    expect(await Promise.all(people.map(id => isOn('bought', id)))).toEqual([true, true, false, false])
    expect((await s.get(cohort)).body.counted_events[0].history.percent).toBe(100)
    // It is counted again.
    expect((await s.get(cohort)).body.is_calculating).toBe(true)
    await send('bought', ['dora'])
    expect(await isOn('bought', 'dora')).toBe(true)
  })

  it('waits for what is on its way, and for ClickHouse, without affecting anything else', async () => {
    await send('left', ['ada', 'ada'], 1)
    await runJobs()
    await target('left')
    // Transactions that do not know of it could still be running.
    await runJobs()
    expect(await isOn('left', 'ada')).toBe(false)
    await send('left', ['bob', 'bob'])
    clickHouse.fault = 'refuses'
    await runJobs(2 * inFlightMilliseconds)
    expect(await isOn('left', 'ada')).toBe(false)
    expect(await isOn('left', 'bob')).toBe(true)
    clickHouse.fault = 'none'
  })

  it('is not known of those who were deleted', async () => {
    await send('gone', ['eve', 'eve'], 1)
    const found = await s.halyard.database.people.read(tx => tx.persons.findByDistinctIds(s.projectId, ['eve']))
    await s.delete(`${s.project}/persons/${found.get('eve')!.id}/`)
    await target('gone')
    await readHistories()
    expect(await isOn('gone', 'eve')).toBe(false)
  })
})

describe('the record of what people do', () => {
  it.each([
    ['?person_events=0', 0],
    ['', 2],
  ])('is sent once for each user, event, day and block, and not with person_events=0: "%s"', async (option, rows) => {
    const clickHouse = await startClickHouseStandIn()
    const s = await startScenario('sqlite', { environment: { EVENTS_URL: `${clickHouse.url}${option}` } })
    const now = new Date().toISOString()
    const event = (name: string, distinct_id: string, properties = {}) => ({
      ...{ event: name, distinct_id, properties, timestamp: now },
    })
    const batch = [
      event('seen', 'ada'),
      event('seen', 'ada'),
      event('seen', 'bob'),
      event('seen', 'carl', { $process_person_profile: false }),
      event('$feature_flag_called', 'ada', { $feature_flag: 'a', $feature_flag_response: true }),
    ]
    await s.as(undefined).post('/batch/', { api_key: s.projectToken, batch })
    await s.halyard.jobs.runDue(instantOf(new Date()))
    const sent = clickHouse.inserts.filter(({ table }) => table === 'person_events_input').flatMap(each => each.rows)
    expect(sent).toHaveLength(rows)
    expect(sent.map(({ event, events, epoch, users }) => [event, events, epoch, (users as number[]).length])).toEqual(
      [['seen', 2, 0, 1] as const, ['seen', 1, 0, 1] as const].slice(0, rows),
    )
    expect(JSON.stringify(sent)).not.toContain('ada')
    const { body } = await s.post(`${s.project}/cohorts/`, { name: 'seen', filters: filtersOf('seen') })
    expect(body.counted_events[0].history === null).toBe(rows === 0)
    await clickHouse.close()
    await s.close()
  })
})
