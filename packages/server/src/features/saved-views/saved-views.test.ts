import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import type { Scenario } from '../../testing/scenario.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

onEachDatabase('saved views and favorites', dialect => {
  const s = suiteScenario(dialect)
  let member: Awaited<ReturnType<Scenario['join']>>
  beforeAll(async () => {
    member = await s.join('member')
  })

  const names = async (client: Pick<Scenario, 'get'>) =>
    (await client.get(`${s.project}/saved_views/`)).body.map(({ name }: { name: string }) => name)

  it('shows a view to its user, and a shared one to everyone in the project', async () => {
    const save = (client: Pick<Scenario, 'post'>, name: string, is_shared: boolean) =>
      client.post(`${s.project}/saved_views/`, { name, query: 'state=stale', is_shared })
    const own = await save(s, 'Mine', false)
    expect(own).toMatchObject({ status: 201, body: { name: 'Mine', query: 'state=stale', is_own: true } })
    const shared = await save(member, 'Everyone’s', true)
    expect(await names(s)).toEqual(['Everyone’s', 'Mine'])
    expect(await names(member)).toEqual(['Everyone’s'])
    expect(await save(s, 'Mine', true)).toMatchObject({ status: 400, body: { attr: 'name', code: 'unique' } })
    expect((await save(member, 'Mine', false)).status).toBe(201)
    expect(await save(s, ' ', false)).toMatchObject({ status: 400, body: { attr: 'name' } })
    expect((await member.delete(`${s.project}/saved_views/${own.body.id}/`)).status).toBe(404)
    expect((await s.delete(`${s.project}/saved_views/${shared.body.id}/`)).status).toBe(204)
    expect((await s.delete(`${s.project}/saved_views/${shared.body.id}/`)).status).toBe(404)
    expect(await names(member)).toEqual(['Mine'])
  })

  it('marks favorites of each user, and filters the list by them', async () => {
    const [first, second] = await Promise.all(
      ['first', 'second'].map(async key => (await s.post(`${s.project}/feature_flags/`, { key })).body.id),
    )
    const favorites = async (client: Pick<Scenario, 'get'>) =>
      (await client.get(`${s.project}/feature_flags/summaries/?favorite=true`)).body.results.map(
        ({ key }: { key: string }) => key,
      )
    for (let n = 0; n < 2; n += 1) {
      expect((await s.put(`${s.project}/feature_flags/${first}/favorite/`)).status).toBe(204)
    }
    await member.put(`${s.project}/feature_flags/${second}/favorite/`)
    expect((await s.get(`${s.project}/feature_flags/favorites/`)).body).toEqual([first])
    expect(await favorites(s)).toEqual(['first'])
    expect(await favorites(member)).toEqual(['second'])
    expect((await s.delete(`${s.project}/feature_flags/${first}/favorite/`)).status).toBe(204)
    expect(await favorites(s)).toEqual([])
    expect((await s.put(`${s.project}/feature_flags/999999/favorite/`)).status).toBe(404)
  })
})
