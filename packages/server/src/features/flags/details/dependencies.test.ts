import { dependencyNodesMax } from '@halyard/contract'
import { beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../../testing/databases.ts'
import { suiteScenario } from '../../../testing/suite-scenario.ts'

interface Reference {
  readonly kind: string
  readonly id: number
}

onEachDatabase('dependencies of flags', dialect => {
  const s = suiteScenario(dialect)
  const ids: Record<string, number> = {}
  const cohorts: string[] = []
  const on = (name: string) => ({ key: String(ids[name]), type: 'flag', value: true, operator: 'flag_evaluates_to' })
  const within = (name: string) => ({ key: 'id', type: 'cohort', value: ids[name], operator: 'in' })
  const createFlag = async (key: string, ...properties: object[]) => {
    const { body } = await s.post(`${s.project}/feature_flags/`, { key, filters: { groups: [{ properties }] } })
    ids[key] = body.id
  }
  const createCohort = async (name: string, property: object) => {
    cohorts.push(name)
    const filters = { properties: { type: 'AND', values: [property] } }
    ids[name] = (await s.post(`${s.project}/cohorts/`, { name, filters })).body.id
  }
  beforeAll(async () => {
    await createFlag('alone')
    await createFlag('base')
    await createFlag('checkout', on('base'))
    await createCohort('Buyers', on('checkout'))
    await createFlag('coupon', within('Buyers'))
    await createCohort('Testers', { key: 'email', type: 'person', value: 'a', operator: 'icontains' })
    await createFlag('targeted', within('Testers'), on('base'))
    await createFlag('only-cohort', within('Testers'))
  })

  const graph = async (query = '') => {
    const { body } = await s.get(`${s.project}/flag_dependencies/${query}`)
    const nameOf = ({ kind, id }: Reference) =>
      Object.keys(ids).find(name => ids[name] === id && (kind === 'cohort') === cohorts.includes(name))
    const nodes = body.results.map((node: Reference & { name: string; uses: Reference[] }) => [
      node.name,
      node.uses.map(nameOf),
    ])
    return { count: body.count, uses: Object.fromEntries(nodes) }
  }

  it('list the flags that are connected, and cohorts in between', async () => {
    expect(await graph()).toEqual({
      count: 5,
      uses: { base: [], checkout: ['base'], Buyers: ['checkout'], coupon: ['Buyers'], targeted: ['base'] },
    })
    const { body } = await s.get(`${s.project}/flag_dependencies/`)
    expect(body.results.find(({ name }: { name: string }) => name === 'Buyers')).toMatchObject({
      kind: 'cohort',
      id: ids.Buyers,
      active: null,
      uses: [{ kind: 'flag', id: ids.checkout }],
    })
  })

  it('of one flag are what it uses and what uses it, cohorts included', async () => {
    expect(await graph(`?flag_id=${ids.checkout}`)).toEqual({
      count: 4,
      uses: { checkout: ['base'], base: [], Buyers: ['checkout'], coupon: ['Buyers'] },
    })
    expect(await graph(`?flag_id=${ids.targeted}`)).toMatchObject({
      uses: { targeted: ['base', 'Testers'], base: [], Testers: [] },
    })
    expect(await graph(`?flag_id=${ids.alone}`)).toEqual({ count: 1, uses: { alone: [] } })
  })

  it('are of flags that the caller can see', async () => {
    expect((await s.get(`${s.project}/flag_dependencies/?flag_id=999999`)).status).toBe(404)
    const stranger = await s.stranger(`dependencies-${dialect}`)
    expect((await stranger.get(`${s.project}/flag_dependencies/`)).status).toBe(404)
    const theirs = `${stranger.project}/flag_dependencies/`
    expect((await stranger.get(`${theirs}?flag_id=${ids.base}`)).status).toBe(404)
    expect((await stranger.get(theirs)).body).toEqual({ count: 0, results: [] })
  })

  it('are limited, with the number of all', async () => {
    for (let index = 0; index < dependencyNodesMax; index += 1) await createFlag(`user-${index}`, on('alone'))
    const { body } = await s.get(`${s.project}/flag_dependencies/`)
    expect(body.count).toBe(dependencyNodesMax + 6)
    expect(body.results).toHaveLength(dependencyNodesMax)
    const one = (await s.get(`${s.project}/flag_dependencies/?flag_id=${ids.alone}`)).body
    expect(one).toMatchObject({ count: dependencyNodesMax + 1 })
    expect(one.results).toHaveLength(dependencyNodesMax)
  })
})
