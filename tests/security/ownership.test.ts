import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../packages/server/src/testing/databases.ts'
import { type Scenario, startScenario } from '../../packages/server/src/testing/scenario.ts'

const ownerLevel = 15

onEachDatabase('the owner of an organization, on two nodes', dialect => {
  let nodes: readonly [Scenario, Scenario]
  let people: readonly { readonly uuid: string; readonly key: string }[]

  beforeAll(async () => {
    const one = await startScenario(dialect)
    nodes = [one, await one.startAnother()]
    const owner = (await one.get('/api/users/@me/')).body
    const joined = [await one.join('ann', 8), await one.join('bob', 8), await one.join('cyd', 8)]
    people = [{ uuid: owner.uuid, key: one.key }, ...joined.map(({ uuid, key }) => ({ uuid, key }))]
  }, 120_000)
  afterAll(() => nodes[0].close())

  const owners = async (): Promise<string[]> => {
    const rows = await nodes[0].halyard.storage.kysely
      .selectFrom('memberships')
      .innerJoin('users', 'users.id', 'memberships.user_id')
      .select('users.uuid')
      .where('level', '=', ownerLevel)
      .where('organization_id', '=', nodes[0].organization.split('/').at(-1)!)
      .execute()
    return rows.map(({ uuid }) => uuid)
  }
  const setLevel = (n: number, key: string, uuid: string, level: number) => {
    const node = nodes[n % 2]!
    return node.as(key).patch(`${node.organization}/members/${uuid}/`, { level })
  }
  const remove = (n: number, key: string, uuid: string) => {
    const node = nodes[n % 2]!
    return node.as(key).delete(`${node.organization}/members/${uuid}/`)
  }

  it('is exactly one after parallel transfers', async () => {
    for (let round = 0; round < 4; round++) {
      const [owner] = await owners()
      const { key } = people.find(({ uuid }) => uuid === owner)!
      const others = people.filter(({ uuid }) => uuid !== owner)
      const replies = await Promise.all(others.map(({ uuid }, n) => setLevel(n, key, uuid, ownerLevel)))
      expect(replies.filter(({ status }) => status === 200)).toHaveLength(1)
      expect(replies.filter(({ status }) => status === 403)).toHaveLength(others.length - 1)
      const left = await owners()
      expect(left).toHaveLength(1)
      expect(left).not.toEqual([owner])
    }
  }, 120_000)

  it('is still one when the new owner is demoted, leaves or is removed at the same time', async () => {
    const [owner] = await owners()
    const { key } = people.find(({ uuid }) => uuid === owner)!
    const [heir, admin] = people.filter(({ uuid }) => uuid !== owner)
    const replies = await Promise.all([
      setLevel(0, key, heir!.uuid, ownerLevel),
      remove(1, admin!.key, heir!.uuid),
      setLevel(1, admin!.key, heir!.uuid, 1),
      remove(0, heir!.key, heir!.uuid),
    ])
    for (const { status, text } of replies) expect(status, text).toBeLessThan(500)
    expect(await owners()).toHaveLength(1)
  }, 120_000)
})
