import { expect, it } from 'vitest'
import { visitServer } from '../../packages/server/src/testing/scenario.ts'
import { startProgram } from '../program/start-program.ts'
import { ownerKey, startServer } from './server-process.ts'

/** The documented time after which other nodes evaluate with what a person did. */
const patience = { timeout: 20_000, interval: 20 }

it('what people did is evaluated by every node, whichever has received the event', { timeout: 120_000 }, async () => {
  const s = await startProgram('postgres')
  const process = await startServer(s.databaseUrl, { HALYARD_LAG_MILLISECONDS_MAX: '0' })
  try {
    const other = await visitServer(process.url, ownerKey)
    const nodes = [s, other]
    const twice = {
      type: 'behavioral',
      key: 'paid',
      value: 'performed_event_multiple',
      operator: 'gte',
      operator_value: 2,
      time_value: 7,
      time_interval: 'day',
    }
    const filters = { properties: { type: 'AND', values: [twice] } }
    const { body: cohort } = await s.post(`${s.project}/cohorts/`, { name: 'Paid twice', filters })
    const groups = [{ properties: [{ type: 'cohort', key: 'id', operator: 'in', value: cohort.id }] }]
    await s.post(`${s.project}/feature_flags/`, { key: 'paid-twice', filters: { groups } })
    const isOn = async (node: typeof other, distinct_id: string): Promise<boolean | undefined> => {
      const { body } = await node.as(undefined).post('/flags/?v=2', { token: s.projectToken, distinct_id })
      return body.flags['paid-twice']?.enabled
    }
    const pay = (node: typeof other, distinct_id: string) =>
      node.as(undefined).post('/capture/', { api_key: s.projectToken, event: 'paid', distinct_id, properties: {} })
    for (const node of nodes) {
      await expect.poll(() => isOn(node, 'ada'), patience).toBe(false)
    }
    const delays: number[] = []
    for (let index = 0; index < 20; index++) {
      const id = `person-${index}`
      const [receiver, reader] = index % 2 === 0 ? [s, other] : [other, s]
      expect((await pay(receiver, id)).status).toBe(200)
      // From now on both have the person in memory.
      expect(await isOn(receiver, id)).toBe(false)
      expect(await isOn(reader, id)).toBe(false)
      expect((await pay(receiver, id)).status).toBe(200)
      const start = performance.now()
      expect(await isOn(receiver, id)).toBe(true)
      await expect.poll(() => isOn(reader, id), patience).toBe(true)
      delays.push(performance.now() - start)
    }
    console.log(`visible on the other node after at most ${Math.max(...delays).toFixed(0)} ms`)
    // A changed definition holds at once where it was saved, and shortly afterwards on the other node.
    const thrice = { properties: { type: 'AND', values: [{ ...twice, operator_value: 3 }] } }
    await s.patch(`${s.project}/cohorts/${cohort.id}/`, { filters: thrice })
    expect(await isOn(s, 'person-0')).toBe(false)
    await expect.poll(() => isOn(other, 'person-0'), patience).toBe(false)
  } finally {
    await process.stop()
    await s.close()
  }
})
