import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { type Instant, instantOf, plusMilliseconds } from '../instant.ts'
import { inParts } from '../storage/in-batches.ts'
import { onEachDatabase } from '../testing/databases.ts'
import { edgeKey, flagsAt, type RunningEdge, removeEdgeFolder, startEdge } from '../testing/edges.ts'
import { type OpenStream, openStream } from '../testing/event-source.ts'
import { type Scenario, startScenario } from '../testing/scenario.ts'
import { changesRetainedHours, changesRetainedMin } from './trim-changes.ts'

const hour = 60 * 60 * 1000
const forNoOne = { groups: [{ properties: [], rollout_percentage: 0 }] }

onEachDatabase('trimming the log of changes', dialect => {
  let awake: Scenario
  let sleeper: Scenario
  let flags: string
  const opened: OpenStream[] = []
  beforeAll(async () => {
    awake = await startScenario(dialect)
    // It receives nothing, like a suspended process.
    sleeper = await startScenario(dialect, {
      databaseUrl: awake.databaseUrl,
      environment: { HALYARD_CHANGE_CHANNEL: 'poll', HALYARD_CHANGE_POLL_MILLISECONDS: '600000' },
    })
    flags = `${awake.project}/feature_flags/`
  })
  afterAll(async () => {
    await sleeper?.close()
    await awake.close()
  })
  afterEach(() => {
    for (const stream of opened.splice(0)) stream.close()
  })

  const db = () => awake.halyard.storage.kysely
  const now = (): Instant => instantOf(new Date())
  const tomorrow = () => plusMilliseconds(now(), (changesRetainedHours + 1) * hour)
  const kept = async (): Promise<number[]> =>
    (await db().selectFrom('changes').select('sequence').orderBy('sequence').execute()).map(({ sequence }) => sequence)

  /** One of the two runs the job. */
  const trimAt = (at: Instant) => Promise.all([awake, sleeper].map(node => node.halyard.jobs.runDue(at)))

  /** Many changes at one instant that no node needs. */
  const insertChanges = (count: number, at: Instant) =>
    db()
      .transaction()
      .execute(async tx => {
        const { sequence } = await tx
          .updateTable('change_head')
          .set(({ eb }) => ({ sequence: eb('sequence', '+', count) }))
          .returning('sequence')
          .executeTakeFirstOrThrow()
        const nothing = { topic: 'cohort', organization_id: null, project_id: 0, entity_id: '0', at }
        const rows = Array.from({ length: count }, (_, n) => ({ ...nothing, sequence: sequence - count + 1 + n }))
        for (const part of inParts(rows, 100)) await tx.insertInto('changes').values(part).execute()
      })
  /** Everything up to now is deleted, except the newest. */
  const forget = async () => {
    await insertChanges(changesRetainedMin, now())
    await trimAt(tomorrow())
    expect(await kept()).toHaveLength(changesRetainedMin)
  }
  const follow = async (node: Scenario, path: string, headers: Record<string, string> = {}) => {
    const stream = await openStream(node.url + path, { authorization: `Bearer ${node.key}`, ...headers })
    opened.push(stream)
    return stream
  }
  const asking = (distinct_id: string) => ({ token: awake.projectToken, distinct_id })

  it('deletes old changes and keeps the newest, whatever their age', async () => {
    await insertChanges(changesRetainedMin + 10, plusMilliseconds(now(), -2 * changesRetainedHours * hour))
    const [newest] = (await kept()).slice(-1)
    await trimAt(now())
    expect(await kept()).toEqual(
      Array.from({ length: changesRetainedMin }, (_, n) => newest! - changesRetainedMin + 1 + n),
    )
    await insertChanges(20, now())
    await trimAt(now())
    expect((await kept()).length).toBe(changesRetainedMin)
    await insertChanges(changesRetainedMin, now())
    await trimAt(now())
    // Those of today stay, even when there are more.
    expect((await kept()).length).toBe(changesRetainedMin + 20)
  })

  it('is not blocked by a change with a timestamp in the future', async () => {
    await insertChanges(1, plusMilliseconds(now(), 365 * changesRetainedHours * hour))
    await forget()
  })

  it('makes a node that was suspended reload everything', async () => {
    const { body: flag } = await awake.post(flags, { key: 'slept-through' })
    const { body: key } = await awake.post('/api/personal_api_keys/', { label: 'short-lived', scopes: ['*'] })
    const { body: secret } = await awake.post(`${awake.project}/secret_keys/`, { label: 'server' })
    const withKey = sleeper.as(key.value)
    expect((await withKey.get(flags)).status).toBe(200)
    expect((await sleeper.as(secret.value).get('/flags/definitions')).status).toBe(200)
    expect(await flagsAt(sleeper, asking('x'))).toMatchObject({ flags: { 'slept-through': { enabled: true } } })
    const stream = await follow(sleeper, `${flags}stream`)
    const state = await stream.next()

    await awake.patch(`${flags}${flag.id}/`, { filters: forNoOne })
    await awake.delete(`/api/personal_api_keys/${key.id}/`)
    await awake.delete(`${awake.project}/secret_keys/${secret.id}/`)
    await forget()
    // Still suspended, which no other node can detect.
    expect(await flagsAt(sleeper, asking('x'))).toMatchObject({ flags: { 'slept-through': { enabled: true } } })
    await sleeper.halyard.changes.catchUp()

    expect(await flagsAt(sleeper, asking('x'))).toMatchObject({ flags: { 'slept-through': { enabled: false } } })
    expect((await withKey.get(flags)).status).toBe(401)
    expect((await sleeper.as(secret.value).get('/flags/definitions')).status).toBe(401)
    const listed = (await sleeper.get(flags)).body.results.find(({ id }: { id: number }) => id === flag.id)
    expect(listed.filters).toEqual(forNoOne)
    expect((await stream.next())?.data.flags).toMatchObject([{ key: 'slept-through', filters: forNoOne }])
    // A follower that reconnects to any node receives everything, or exactly what it missed.
    const elsewhere = await follow(awake, `${flags}stream`, { 'last-event-id': state!.id })
    expect(await elsewhere.next()).toMatchObject({ event: 'state' })
    const evaluations = await follow(awake, `/ofrep/v1/stream?token=${awake.projectToken}`, {
      'last-event-id': state!.id,
    })
    expect(await evaluations.next()).toMatchObject({ data: { type: 'refetchEvaluation' } })
  })

  it('makes edges of such a node reload as well, whether connected or reconnecting', async () => {
    const { body: flag } = await awake.post(flags, { key: 'at-the-edge' })
    const key = await edgeKey(awake)
    await sleeper.halyard.changes.catchUp()
    const shown = (at: RunningEdge) => flagsAt(at, asking('x'))
    const away = await startEdge(sleeper.url, key)
    const following = await startEdge(sleeper.url, key)
    try {
      for (const edge of [away, following]) {
        await expect.poll(() => shown(edge)).toMatchObject({ flags: { 'at-the-edge': { enabled: true } } })
      }
      await away.close()
      await awake.patch(`${flags}${flag.id}/`, { filters: forNoOne })
      await forget()
      await sleeper.halyard.changes.catchUp()
      await expect.poll(() => shown(following)).toMatchObject({ flags: { 'at-the-edge': { enabled: false } } })
      const back = await startEdge(sleeper.url, key, { folder: away.folder })
      try {
        await expect.poll(() => shown(back)).toMatchObject({ flags: { 'at-the-edge': { enabled: false } } })
      } finally {
        await back.close()
      }
    } finally {
      await following.close()
      await removeEdgeFolder(away.folder)
      await removeEdgeFolder(following.folder)
    }
  })
})
