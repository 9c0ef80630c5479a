import { utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import {
  flagsAt,
  newEdgeFolder,
  type RunningEdge,
  removeEdgeFolder,
  startEdge,
} from '../../packages/server/src/testing/edges.ts'
import { clientOf, type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'

/** An edge that has lost its own access accepts no keys: it can no longer learn which were revoked. */

const patience = { timeout: 10_000, interval: 20 }

onEachDatabase('an edge', dialect => {
  const cleanUp: (() => Promise<unknown>)[] = []
  afterEach(async () => {
    for (const close of cleanUp.splice(0).reverse()) await close()
  })

  async function start() {
    const s = await startScenario(dialect)
    cleanUp.push(() => s.close())
    await s.post(`${s.project}/feature_flags/`, { key: 'first' })
    const { body: ownKey } = await s.post('/api/personal_api_keys/', { label: 'edge', scopes: ['edge:write'] })
    const { body: reader } = await s.post('/api/personal_api_keys/', { label: 'r', scopes: ['feature_flag:read'] })
    const { body: secret } = await s.post(`${s.project}/secret_keys/`, { label: 'backend' })
    const folder = await newEdgeFolder()
    cleanUp.push(() => removeEdgeFolder(folder))
    return { s, ownKey, folder, keys: [reader.value, secret.value] as string[] }
  }
  const startHere = async (s: Scenario, key: string, folder: string, upstream = s.url): Promise<RunningEdge> => {
    const edge = await startEdge(upstream, key, { folder })
    cleanUp.push(() => edge.close())
    return edge
  }
  const statuses = (edge: RunningEdge, s: Scenario, keys: readonly string[]) =>
    Promise.all(
      keys.map(async key => {
        const path = `/api/feature_flag/local_evaluation/?token=${s.projectToken}`
        return (await clientOf(edge.url, key).get(path)).status
      }),
    )
  const readiness = async (edge: RunningEdge) => {
    const { status, body } = await edge.get('/_readyz')
    return { status, state: body.state, upstream: body.upstream }
  }
  const evaluates = (edge: RunningEdge, s: Scenario) => flagsAt(edge, { token: s.projectToken, distinct_id: 'a' })

  it('whose key was revoked accepts no keys and is not ready, also after a restart without its upstream', async () => {
    const { s, ownKey, folder, keys } = await start()
    const edge = await startHere(s, ownKey.value, folder)
    await expect.poll(() => readiness(edge), patience).toEqual({ status: 200, state: 'ok', upstream: 'following' })
    expect(await statuses(edge, s, keys)).toEqual([200, 200])

    await s.delete(`/api/personal_api_keys/${ownKey.id}/`)
    await expect.poll(() => readiness(edge), patience).toEqual({ status: 503, state: 'revoked', upstream: 'refused' })
    expect(await statuses(edge, s, keys)).toEqual([401, 401])
    expect(await evaluates(edge, s)).toMatchObject({ flags: { first: { enabled: true } } })

    await edge.close()
    cleanUp.pop()
    const restarted = await startHere(s, ownKey.value, folder, 'http://127.0.0.1:1')
    expect((await readiness(restarted)).state).toBe('too old')
    expect(await statuses(restarted, s, keys)).toEqual([401, 401])
  })

  it('accepts keys again once it has a valid key', async () => {
    const { s, ownKey, folder, keys } = await start()
    const edge = await startHere(s, ownKey.value, folder)
    await expect.poll(() => statuses(edge, s, keys), patience).toEqual([200, 200])
    await s.patch(`/api/personal_api_keys/${ownKey.id}/`, { scopes: ['cohort:read'] })
    await expect.poll(() => statuses(edge, s, keys), patience).toEqual([401, 401])
    await s.patch(`/api/personal_api_keys/${ownKey.id}/`, { scopes: ['edge:write'] })
    await expect.poll(() => statuses(edge, s, keys), { ...patience, timeout: 20_000 }).toEqual([200, 200])
    expect(await readiness(edge)).toEqual({ status: 200, state: 'ok', upstream: 'following' })
  })

  it('without its upstream accepts keys until its state is too old', async () => {
    const { s, ownKey, folder, keys } = await start()
    const edge = await startHere(s, ownKey.value, folder)
    await expect.poll(() => statuses(edge, s, keys), patience).toEqual([200, 200])
    await edge.close()
    cleanUp.pop()

    const away = 'http://127.0.0.1:1'
    const young = await startHere(s, ownKey.value, folder, away)
    expect(await statuses(young, s, keys)).toEqual([200, 200])
    await young.close()
    cleanUp.pop()

    const longAgo = new Date(Date.now() - 73 * 60 * 60 * 1000)
    await utimes(join(folder, 'state.jsonl'), longAgo, longAgo)
    const old = await startHere(s, ownKey.value, folder, away)
    expect(await readiness(old)).toMatchObject({ status: 503, state: 'too old' })
    expect((await old.get('/_readyz?for=evaluation')).status).toBe(200)
    expect(await statuses(old, s, keys)).toEqual([401, 401])
    expect(await evaluates(old, s)).toMatchObject({ flags: { first: { enabled: true } } })
  })
})
