import { beforeAll, describe, expect, it } from 'vitest'
import { hashSecret } from '../features/identity/secret.ts'
import { Problem } from '../problem.ts'
import type { Change, ChangeListener } from '../storage/changes/changes.ts'
import type { Database } from '../stores.ts'
import { onEachDatabase } from '../testing/databases.ts'
import { suiteScenario } from '../testing/suite-scenario.ts'
import { storedProjects } from './projects/stored-projects.ts'
import { createSnapshots, type SnapshotsOptions } from './snapshots.ts'

onEachDatabase('snapshots', dialect => {
  const s = suiteScenario(dialect)
  let flags: string
  beforeAll(() => {
    flags = `${s.project}/feature_flags/`
  })

  const value = async (key: string) =>
    (await s.halyard.serving.snapshots.forToken(s.projectToken))?.snapshot
      .evaluate({ distinctId: 'someone' }, { now: 0 })
      .get(key)?.value

  /** Separate snapshots over the same database, whose reads can be counted and failed. */
  function separate({
    listCohorts = async () => [],
    ...options
  }: Partial<SnapshotsOptions> & { listCohorts?: Parameters<typeof storedProjects>[1] } = {}) {
    let reads = 0
    let isAway = false
    const listeners = new Set<ChangeListener>()
    const counted: Database['read'] = async work => {
      reads += 1
      if (isAway) throw new Problem('unavailable', 'The database is away.')
      return s.halyard.database.read(work)
    }
    const database = { read: counted, query: counted, people: s.halyard.database.people }
    const snapshots = createSnapshots({
      source: storedProjects(database, listCohorts),
      changes: {
        subscribe(listener) {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      },
      ...options,
    })
    return {
      snapshots,
      reads: () => reads,
      setAway(away: boolean) {
        isAway = away
      },
      async deliver(change: Partial<Change>) {
        const whole = { sequence: 1, topic: 'flag', organizationId: null, projectId: s.projectId, entityId: '', at: '' }
        for (const listener of listeners) await listener([{ ...whole, ...change } as Change])
      },
    }
  }

  it('applies every committed change before the writer gets its response', async () => {
    const { body: flag } = await s.post(flags, { key: 'followed' })
    expect(await value('followed')).toBe(true)
    await s.patch(`${flags}${flag.id}/`, { active: false })
    expect(await value('followed')).toBe(false)
    await s.patch(`${flags}${flag.id}/`, { active: true, key: 'renamed' })
    expect([await value('followed'), await value('renamed')]).toEqual([undefined, true])
    await s.patch(`${flags}${flag.id}/`, { deleted: true })
    expect(await value('renamed')).toBeUndefined()
    await s.patch(`${flags}${flag.id}/`, { deleted: false })
    expect(await value('renamed')).toBe(true)
  })

  it('recompiles only the changed flag', async () => {
    const { body: first } = await s.post(flags, { key: 'untouched' })
    const { body: second } = await s.post(flags, { key: 'touched' })
    const before = (await s.halyard.serving.snapshots.forProject(s.projectId))!
    await s.patch(`${flags}${second.id}/`, { name: 'changed' })
    const after = (await s.halyard.serving.snapshots.forProject(s.projectId))!
    const compiled = (served: typeof before, key: string) => served.snapshot.flags[served.snapshot.indexOf(key)!]
    expect(compiled(after, 'untouched')).toBe(compiled(before, 'untouched'))
    expect(compiled(after, 'touched')).not.toBe(compiled(before, 'touched'))
    expect(after.flags.get(first.id)).toBe(before.flags.get(first.id))
    expect(before.flags.get(second.id)?.name).toBe('')
  })

  it('loads a cold project once for concurrent requests', async () => {
    const { snapshots, reads } = separate()
    const all = await Promise.all(Array.from({ length: 1000 }, () => snapshots.forToken(s.projectToken)))
    expect(new Set(all).size).toBe(1)
    expect(all[0]?.project.id).toBe(s.projectId)
    expect(reads()).toBe(2)
    expect(snapshots.cached(s.projectToken)).toBe(all[0])
  })

  it('queries once for an unknown token, and never for a malformed one', async () => {
    const { snapshots, reads } = separate()
    for (let n = 0; n < 3; n++) expect(await snapshots.forToken('phc_unknown')).toBeUndefined()
    expect(reads()).toBe(1)
    for (const odd of ['', 'a\u0000b', 'ключ', 'x'.repeat(1000)]) expect(await snapshots.forToken(odd)).toBeUndefined()
    expect(reads()).toBe(1)
  })

  it('applies a change that commits while the project is being read', async () => {
    const { body: flag } = await s.post(flags, { key: 'overtaken' })
    let letGo = () => {}
    const gate = new Promise<void>(resolve => {
      letGo = resolve
    })
    const { snapshots, deliver } = separate({
      listCohorts: async () => {
        await gate
        return []
      },
    })
    // On SQLite the reader holds the one connection, so the change itself is committed before.
    const loading = snapshots.forProject(s.projectId)
    await deliver({ entityId: String(flag.id) })
    letGo()
    expect((await loading)?.flags.get(flag.id)?.key).toBe('overtaken')
  })

  it('serves while the database is unavailable, and recovers automatically', async () => {
    const { body: flag } = await s.post(flags, { key: 'outage' })
    const { snapshots, setAway, deliver } = separate()
    const before = await snapshots.forToken(s.projectToken)
    setAway(true)
    await s.patch(`${flags}${flag.id}/`, { active: false })
    await deliver({ entityId: String(flag.id) })
    expect(await snapshots.forToken(s.projectToken)).toBe(before)
    expect(snapshots.cached(s.projectToken)).toBe(before)
    await expect(snapshots.forToken('phc_notyetseen')).rejects.toMatchObject({ kind: 'unavailable' })
    const cold = separate()
    cold.setAway(true)
    await expect(cold.snapshots.forToken(s.projectToken)).rejects.toMatchObject({ kind: 'unavailable' })
    const swapped = new Promise(resolve => snapshots.onSwap((_before, after) => resolve(after)))
    setAway(false)
    expect(await swapped).toMatchObject({ project: { id: s.projectId } })
    expect((await snapshots.forToken(s.projectToken))?.flags.get(flag.id)?.active).toBe(false)
    cold.setAway(false)
    expect((await cold.snapshots.forToken(s.projectToken))?.project.id).toBe(s.projectId)
    snapshots.close()
  })

  it('evicts the least recently used projects', async () => {
    const others = []
    for (const name of ['b', 'c']) others.push((await s.post('/api/projects/', { name })).body)
    const { snapshots } = separate({ projectsMax: 2 })
    await snapshots.forToken(s.projectToken)
    await snapshots.forToken(others[0].api_token)
    snapshots.cached(s.projectToken)
    await snapshots.forToken(others[1].api_token)
    expect(snapshots.size).toBe(2)
    expect(snapshots.cached(others[0].api_token)).toBeUndefined()
    expect(snapshots.cached(s.projectToken)).toBeDefined()
    expect((await snapshots.forToken(others[0].api_token))?.project.id).toBe(others[0].id)
  })

  describe('credentials', () => {
    it('expire with the replaced token and are valid with the new one', async () => {
      const { body: project } = await s.post('/api/projects/', { name: 'Token' })
      const { snapshots } = s.halyard.serving
      expect((await snapshots.forToken(project.api_token))?.project.id).toBe(project.id)
      const { body: changed } = await s.patch(`/api/projects/${project.id}/reset_token/`, {})
      expect(changed.api_token).not.toBe(project.api_token)
      expect(await snapshots.forToken(project.api_token)).toBeUndefined()
      expect(snapshots.cached(project.api_token)).toBeUndefined()
      expect((await snapshots.forToken(changed.api_token))?.project.id).toBe(project.id)
      await s.delete(`/api/projects/${project.id}/`)
      expect(await snapshots.forToken(changed.api_token)).toBeUndefined()
    })

    it('overlap while a token is rotated, on every protocol, until the overlap ends', async () => {
      const { body: project } = await s.post('/api/projects/', { name: 'Overlap' })
      const rotate = (query: string) => s.patch(`/api/projects/${project.id}/reset_token/${query}`, {})
      for (const hours of ['-1', '1.5', 'soon', '721']) {
        expect((await rotate(`?overlap_hours=${hours}`)).body).toMatchObject({ attr: 'overlap_hours' })
      }
      const evaluate = async (token: string) => (await s.post('/flags/?v=2', { token, distinct_id: 'u' })).status
      const send = async (token: string) =>
        (await s.post('/batch/', { api_key: token, batch: [{ event: 'e', distinct_id: 'u' }] })).status
      const { body: rotated } = await rotate('?overlap_hours=24')
      expect(rotated.previous_token.mask_value).not.toContain(project.api_token)
      for (const token of [project.api_token, rotated.api_token]) {
        expect([await evaluate(token), await send(token)]).toEqual([200, 200])
      }
      expect(await s.delete(`/api/projects/${project.id}/previous_token/`)).toMatchObject({ status: 204 })
      expect(await evaluate(project.api_token)).toBe(401)
      expect(await evaluate(rotated.api_token)).toBe(200)
      expect((await s.get(`/api/projects/${project.id}/`)).body.previous_token).toBeUndefined()
      // Another rotation keeps only the token before it.
      const { body: second } = await rotate('?overlap_hours=1')
      expect([await evaluate(rotated.api_token), await evaluate(second.api_token)]).toEqual([200, 200])
      await rotate('')
      expect(await evaluate(rotated.api_token)).toBe(401)
    })

    it('expire with a revoked secret key', async () => {
      const { body: key } = await s.post(`${s.project}/secret_keys/`, { label: 'server' })
      const hash = hashSecret(key.value)
      const { snapshots } = s.halyard.serving
      expect((await snapshots.forSecretKey(hash))?.project.id).toBe(s.projectId)
      await s.delete(`${s.project}/secret_keys/${key.id}/`)
      expect(await snapshots.forSecretKey(hash)).toBeUndefined()
    })
  })
})
