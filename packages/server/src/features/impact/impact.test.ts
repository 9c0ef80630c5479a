import {
  type CohortDefinition,
  compile,
  type Definitions,
  type FlagDefinition,
  operators,
  type Subject,
} from '@halyard/engine'
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { linearRegex } from '../../evaluation/linear-regex.ts'
import { openSourceOf } from '../../evaluation/scan/open-source.sql.ts'
import { tally } from '../../evaluation/scan/scan.ts'
import { createScanner } from '../../evaluation/scan/scanner.ts'
import { instantOf } from '../../instant.ts'
import { onEachDatabase } from '../../testing/databases.ts'
import { createPersons } from '../../testing/persons.ts'
import { suiteScenario } from '../../testing/suite-scenario.ts'

const is = (key: string, value: unknown, operator = 'exact', more = {}) => ({
  key,
  value,
  operator,
  type: 'person',
  ...more,
})
const within = (id: number, more = {}) => ({ key: 'id', type: 'cohort', value: id, ...more })

/** Realistic and adversarial property values. */
const values = [
  'pro',
  'PRO',
  'free',
  '',
  'true',
  'false',
  '5',
  '05',
  '1.5',
  'null',
  'x"y',
  'ü🦔',
  'a\nb',
  '{"plan":"pro"}',
  '2024-01-31',
  '2024-01-31T12:00:00Z',
  '-7d',
  '1.2.3',
  '1.10.0-beta',
  'v2.0',
  5,
  0,
  -1.5,
  1e21,
  true,
  false,
  null,
  [],
  ['pro', 'free'],
  [1, 2],
  { plan: 'pro' },
  {},
]
const filterValues = [
  ['pro', 'free'],
  'pro',
  'RO',
  '5',
  5,
  '2024-01-31',
  '-30d',
  '1.2.3',
  '1.2.*',
  '^p|5$',
  true,
  null,
  [1, 6],
]
const names = ['plan', 'odd "name"', 'größe', 'nested']

/** The same persons on every run. */
function people(count: number): Record<string, Record<string, unknown>> {
  let seed = 7
  const next = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2 ** 31
    return Math.floor((seed / 2 ** 31) * below)
  }
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => {
      const properties: Record<string, unknown> = {}
      for (const name of names) if (next(3) > 0) properties[name] = values[next(values.length)]
      return [next(2) === 0 ? `user-${n}` : `${n}-0000-4000-8000-${'é'.repeat(n % 3)}`, properties]
    }),
  )
}

const allPeople = people(300)

onEachDatabase('impact', dialect => {
  const s = suiteScenario(dialect)
  let flags: string
  let staticCohort: number
  let dynamicCohort: number
  const members = Object.keys(allPeople).filter((_, n) => n % 3 === 0)
  beforeAll(async () => {
    flags = `${s.project}/feature_flags/`
    await createPersons(s, s.projectId, allPeople)
    const cohorts = `${s.project}/cohorts/`
    staticCohort = (await s.post(cohorts, { name: 'static', is_static: true, distinct_ids: members })).body.id
    const filters = { properties: { type: 'OR', values: [is('plan', 'pro'), is('nested', '', 'is_set')] } }
    dynamicCohort = (await s.post(cohorts, { name: 'dynamic', filters })).body.id
    await s.halyard.database.transaction(
      async tx => {
        const at = instantOf(new Date())
        await tx.groupTypes.ensure(s.projectId, 'company')
        for (let n = 0; n < 40; n++) {
          const set = { size: n % 7, name: n % 2 === 0 ? 'Acme' : 'Other' }
          await tx.people.groups.update(
            s.projectId,
            { typeIndex: 0, key: `company-${n}` },
            { set, setOnce: {}, unset: [] },
            at,
          )
        }
        await tx.changes.append({
          topic: 'project',
          organizationId: null,
          projectId: s.projectId,
          entityId: String(s.projectId),
          at,
        })
      },
      { withPersons: true },
    )
  })

  const blastRadius = (body: unknown, query = '') => s.post(`${flags}user_blast_radius/${query}`, body)

  /** Reference implementation: evaluates each person individually. */
  const bruteForce = (filters: unknown, key = '', more: Partial<FlagDefinition> = {}) => {
    const cohorts: CohortDefinition[] = [
      { id: staticCohort, isStatic: true, filters: {} },
      {
        id: dynamicCohort,
        isStatic: false,
        filters: { properties: { type: 'OR', values: [is('plan', 'pro'), is('nested', '', 'is_set')] } },
      },
    ]
    const definitions: Definitions = {
      flags: [{ id: 1, key, active: true, filters, ...more }],
      cohorts,
      groupTypes: { 0: 'company' },
      propertyMatchingVersion: 2,
    }
    const snapshot = compile(definitions, { regex: linearRegex })
    return Object.entries(allPeople).map(([distinctId, personProperties]) => {
      const subject: Subject = {
        distinctId,
        personProperties,
        inStaticCohort: id => id === staticCohort && members.includes(distinctId),
      }
      return { distinctId, outcome: snapshot.evaluate(subject, { now: Date.now() }).get(key)! }
    })
  }
  const count = (results: ReturnType<typeof bruteForce>) => results.filter(({ outcome }) => outcome.enabled).length

  const database = () =>
    s.halyard.storage.sqlite
      ? ({ kind: 'sqlite', path: s.halyard.storage.sqlite.path } as const)
      : ({ kind: 'postgres', url: s.databaseUrl } as const)

  it.each(operators)('counts the same as the reference implementation with %s', async operator => {
    const filters = names.flatMap(name =>
      filterValues.flatMap(value =>
        [true, false].map(negation => ({ groups: [{ properties: [is(name, value, operator, { negation })] }] })),
      ),
    )
    const queries = filters.map(one => ({
      key: 'candidate',
      definitions: {
        flags: [{ id: 1, key: 'candidate', active: true, filters: one }],
        cohorts: [],
        groupTypes: {},
        propertyMatchingVersion: 2 as const,
      },
    }))
    const request = {
      kind: 'tally',
      projectId: s.projectId,
      target: { kind: 'persons' },
      queries,
      now: Date.now(),
    } as const
    const { lines, total } = await tally(openSourceOf(database(), request), request, () => {})
    expect(total).toBe(300)
    filters.forEach((one, index) => {
      const counted = lines.reduce((sum, line) => (line.outcomes[index]!.enabled ? sum + line.count : sum), 0)
      expect([one, counted]).toEqual([one, count(bruteForce(one, 'candidate'))])
    })
  })

  it('counts combinations, cohorts and negations the same as the reference implementation', async () => {
    const property = fc.oneof(
      fc
        .record({
          name: fc.constantFrom(...names),
          value: fc.constantFrom('pro', 'free', '5'),
          operator: fc.constantFrom('exact', 'is_not', 'icontains', 'is_set', 'gt'),
        })
        .map(({ name, value, operator }) => is(name, value, operator)),
      fc.constantFrom('in', 'not_in').map(operator => within(staticCohort, { operator })),
      fc.constantFrom('in', 'not_in').map(operator => within(dynamicCohort, { operator })),
      fc.constantFrom('user-1', 'user').map(value => is('distinct_id', value, 'icontains')),
    )
    const condition = fc.record({
      properties: fc.array(property, { maxLength: 3 }),
      rollout_percentage: fc.constantFrom(null, 100, 50, 0, 33.3),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(condition, { minLength: 1, maxLength: 3 }), async groups => {
        const { body } = await blastRadius({ key: 'combined', filters: { groups } })
        const open = groups.map(group => ({ ...group, rollout_percentage: null }))
        expect(body.users_affected).toBe(count(bruteForce({ groups: open }, 'combined')))
        expect(body.would_be_on).toBe(count(bruteForce({ groups }, 'combined')))
      }),
      { numRuns: 12 },
    )
  })

  it('returns the shape of the candidate flag', async () => {
    const filters = { groups: [{ properties: [], rollout_percentage: 30 }] }
    const reply = await blastRadius({ key: 'draft', name: 'A draft', filters, tags: ['a'] })
    expect(reply.status).toBe(200)
    expect(reply.body).toMatchObject({
      id: 0,
      key: 'draft',
      name: 'A draft',
      filters,
      tags: ['a'],
      is_simple_flag: true,
      rollout_percentage: 30,
      users_affected: 300,
      would_be_on: count(bruteForce(filters, 'draft')),
      comparison: null,
    })
    for (const body of [undefined, {}]) {
      expect((await blastRadius(body)).body).toMatchObject({ users_affected: 300, total_users: 300, would_be_on: 300 })
    }
    expect((await blastRadius({ key: 'off', active: false })).body).toMatchObject({
      users_affected: 300,
      would_be_on: 0,
    })
    expect((await blastRadius({ filters })).body).toMatchObject({ users_affected: 300, would_be_on: null })
  })

  it('counts by variant and condition', async () => {
    const filters = {
      groups: [
        { properties: [is('plan', 'pro')], variant: 'b' },
        { properties: [], rollout_percentage: 60 },
      ],
      multivariate: {
        variants: [
          { key: 'a', rollout_percentage: 70 },
          { key: 'b', rollout_percentage: 30 },
        ],
      },
    }
    const { body } = await blastRadius({ key: 'varied', filters })
    const results = bruteForce(filters, 'varied').filter(({ outcome }) => outcome.enabled)
    const by = (test: (o: (typeof results)[number]['outcome']) => boolean) =>
      results.filter(({ outcome }) => test(outcome)).length
    expect(body).toMatchObject({
      would_be_on: results.length,
      variants: { a: by(o => o.variant === 'a'), b: by(o => o.variant === 'b') },
      conditions: [0, 1].map(index => ({ index, would_be_on: by(o => o.reason.conditionIndex === index) })),
    })
  })

  describe("PostHog's single condition", () => {
    it('ignores the rollout percentage', async () => {
      const condition = { properties: [is('plan', 'pro')], rollout_percentage: 10, variant: 'x' }
      const expected = count(bruteForce({ groups: [{ properties: condition.properties }] }))
      const { body } = await blastRadius({ condition })
      expect(body).toMatchObject({ users_affected: expected, total_users: 300, would_be_on: null })
      expect((await blastRadius({ condition: null })).body).toMatchObject({ users_affected: 300, total_users: 300 })
    })

    it('counts groups', async () => {
      const company = (key: string, value: unknown, operator = 'exact') => ({
        key,
        value,
        operator,
        type: 'group',
        group_type_index: 0,
      })
      const condition = { properties: [company('size', 3, 'gt'), company('name', 'acme')] }
      const { body } = await blastRadius({ condition, group_type_index: 0 })
      const sizes = Array.from({ length: 40 }, (_, n) => n).filter(n => n % 2 === 0 && n % 7 > 3)
      expect(body).toMatchObject({ users_affected: sizes.length, total_users: 40 })
      const byKey = { properties: [company('$group_key', 'company-7')] }
      expect((await blastRadius({ condition: byKey, group_type_index: 0 })).body.users_affected).toBe(1)
      const filters = {
        groups: [{ properties: condition.properties, rollout_percentage: 100 }],
        aggregation_group_type_index: 0,
      }
      expect((await blastRadius({ filters })).body).toMatchObject({
        users_affected: sizes.length,
        would_be_on: sizes.length,
      })
      expect((await blastRadius({ condition: {}, group_type_index: 3 })).body).toMatchObject({
        users_affected: 0,
        total_users: 0,
      })
      const mixed = await blastRadius({ condition: { properties: [is('plan', 'pro')] }, group_type_index: 0 })
      expect([mixed.status, mixed.body.code, mixed.body.attr]).toEqual([400, 'invalid_input', null])
    })
  })

  describe('compare_to', () => {
    const before = { groups: [{ properties: [is('plan', ['pro', 'free'])], rollout_percentage: 50 }] }
    const after = {
      groups: [{ properties: [is('plan', 'pro')], rollout_percentage: 80 }, { properties: [within(staticCohort)] }],
    }

    it('reports gains and losses', async () => {
      const { body: flag } = await s.post(flags, { key: 'compared', filters: before })
      const changed = { groups: [after.groups[0], { properties: [within(staticCohort)] }] }
      const { body } = await blastRadius({ filters: changed }, `?compare_to=${flag.id}`)
      const [old, now] = [bruteForce(before, 'compared'), bruteForce(changed, 'compared')]
      const gained = now
        .filter(({ outcome }, n) => outcome.enabled && !old[n]!.outcome.enabled)
        .map(one => one.distinctId)
      const lost = now
        .filter(({ outcome }, n) => !outcome.enabled && old[n]!.outcome.enabled)
        .map(one => one.distinctId)
      expect(body).toMatchObject({ key: 'compared', would_be_on: count(now) })
      expect(body.comparison).toMatchObject({
        flag_id: flag.id,
        currently_on: count(old),
        gains: gained.length,
        losses: lost.length,
        changes: 0,
      })
      const ids = (sample: { distinct_id: string }[]) => sample.map(one => one.distinct_id)
      expect(ids(body.comparison.sample_gains)).toHaveLength(Math.min(20, gained.length))
      for (const id of ids(body.comparison.sample_gains)) expect(gained).toContain(id)
      for (const id of ids(body.comparison.sample_losses)) expect(lost).toContain(id)
      expect(body.comparison.sample_gains[0]).toMatchObject({ before: false, after: true, name: expect.any(String) })
      expect((await blastRadius({}, `?compare_to=${flag.id}`)).body.comparison).toMatchObject({
        gains: 0,
        losses: 0,
        changes: 0,
      })
      const off = (await blastRadius({ active: false }, `?compare_to=${flag.id}`)).body.comparison
      expect(off).toMatchObject({ gains: 0, losses: count(old) })
    })

    it('hides names from keys without the person scope', async () => {
      const { body: flag } = await s.post(flags, { key: 'compared-by-reader', active: false })
      const key = await s.post('/api/personal_api_keys/', { label: 'flags only', scopes: ['feature_flag:read'] })
      const { body } = await s
        .as(key.body.value)
        .post(`${flags}user_blast_radius/?compare_to=${flag.id}`, { active: true })
      expect(body.comparison).toMatchObject({ gains: 300, sample_gains: [] })
    })

    it('requires a flag of the project with the same aggregation', async () => {
      for (const id of ['999999', 'abc', '-1']) {
        expect((await blastRadius({}, `?compare_to=${id}`)).body).toMatchObject({
          attr: 'compare_to',
          code: 'does_not_exist',
        })
      }
      const { body: flag } = await s.post(flags, { key: 'by-person' })
      const reply = await blastRadius(
        { filters: { groups: [{}], aggregation_group_type_index: 0 } },
        `?compare_to=${flag.id}`,
      )
      expect([reply.status, reply.body.attr]).toEqual([400, 'compare_to'])
    })
  })

  it('evaluates flag dependencies and stored hash keys', async () => {
    const { body: base } = await s.post(flags, {
      key: 'base',
      filters: { groups: [{ properties: [is('plan', 'pro')], rollout_percentage: 70 }] },
    })
    const dependent = {
      groups: [{ properties: [{ type: 'flag', key: String(base.id), value: true, operator: 'flag_evaluates_to' }] }],
    }
    const { body } = await blastRadius({ key: 'dependent', filters: dependent })
    expect(body.would_be_on).toBe(count(bruteForce(base.filters, 'base')))

    const half = { groups: [{ properties: [], rollout_percentage: 50 }] }
    const [someone] = bruteForce(half, 'steady').filter(({ outcome }) => !outcome.enabled)
    const other = bruteForce(half, 'steady').find(({ outcome }) => outcome.enabled)!
    await s.halyard.database.people.transaction(async tx => {
      const person = (await tx.persons.findByDistinctIds(s.projectId, [someone!.distinctId])).get(someone!.distinctId)
      await tx.persons.addHashKeys(s.projectId, person!.id, [{ flagKey: 'steady', hashKey: other.distinctId }])
    })
    const steady = await blastRadius({ key: 'steady', filters: half, ensure_experience_continuity: true })
    expect(steady.body.would_be_on).toBe(count(bruteForce(half, 'steady')) + 1)
  })

  it.each([
    [{ filters: { groups: 'all' } }, 'filters'],
    [{ filters: { groups: [{ rollout_percentage: 101 }] } }, 'filters'],
    [{ filters: { groups: [{ properties: [within(987654)] }] } }, 'filters'],
    [{ filters: { groups: [{ properties: [is('a', '(', 'regex')] }] } }, 'filters'],
    [{ filters: [] }, 'filters'],
    [{ condition: [] }, 'condition'],
    [{ condition: { properties: [{ key: 'a', value: 'b', operator: 'nope' }] } }, 'filters'],
    [{ condition: {}, group_type_index: 'x' }, 'group_type_index'],
    [{ active: 'yes' }, 'active'],
  ])('rejects %j', async (body, attr) => {
    const reply = await blastRadius(body)
    expect([reply.status, reply.body.attr]).toEqual([400, attr])
  })

  it('is not accessible to other organizations, and counts only its own project', async () => {
    const stranger = await s.stranger(`reach-${dialect}`)
    expect((await stranger.post(`${flags}user_blast_radius/`, {})).status).toBe(404)
    const own = await stranger.post(`${stranger.project}/feature_flags/user_blast_radius/`, {})
    expect(own.body).toMatchObject({ users_affected: 0, total_users: 0 })
    const { body: flag } = await s.post(flags, { key: 'foreign' })
    const peek = await stranger.post(`${stranger.project}/feature_flags/user_blast_radius/?compare_to=${flag.id}`, {})
    expect(peek.body.attr).toBe('compare_to')
  })

  describe('the scanner', () => {
    const query = {
      key: 'all',
      definitions: {
        flags: [{ id: 1, key: 'all', active: true, filters: { groups: [{}] } }],
        cohorts: [],
        groupTypes: {},
        propertyMatchingVersion: 2 as const,
      },
    }
    const request = () => ({
      projectId: s.projectId,
      target: { kind: 'persons' } as const,
      queries: [query],
      now: 0,
    })

    it('stops when aborted, runs queued scans, and rejects when the queue is full', async () => {
      const scanner = createScanner({ database: database(), concurrencyMax: 1 })
      const leaving = new AbortController()
      let markStarted = () => {}
      const started = new Promise<void>(resolve => {
        markStarted = resolve
      })
      const first = scanner.walk({ kind: 'walk', descending: false, ...request() }, leaving.signal, async () => {
        markStarted()
        return new Promise(() => {})
      })
      await started
      const waiting = Array.from({ length: 20 }, () => scanner.tally({ kind: 'tally', ...request() }, leaving.signal))
      const stays = new AbortController()
      await expect(scanner.tally({ kind: 'tally', ...request() }, stays.signal)).rejects.toMatchObject({
        kind: 'throttled',
      })
      leaving.abort()
      for (const one of await Promise.allSettled([first, ...waiting])) {
        expect(one).toMatchObject({ status: 'rejected', reason: { code: 'cancelled' } })
      }
      expect(await scanner.tally({ kind: 'tally', ...request() }, stays.signal)).toMatchObject({ total: 300 })
      await scanner.close()
      await expect(scanner.tally({ kind: 'tally', ...request() }, stays.signal)).rejects.toMatchObject({
        kind: 'unavailable',
      })
    })

    it('survives callers that abort during a count', async () => {
      const scanner = createScanner({ database: database(), concurrencyMax: 4 })
      const counts = Array.from({ length: 8 }, () => {
        const leaving = new AbortController()
        return scanner.tally({ kind: 'tally', ...request() }, leaving.signal, () => leaving.abort())
      })
      for (const one of await Promise.allSettled(counts)) {
        expect(one).toMatchObject({ status: 'rejected', reason: { code: 'cancelled' } })
      }
      const { signal } = new AbortController()
      expect(await scanner.tally({ kind: 'tally', ...request() }, signal)).toMatchObject({ total: 300 })
      await scanner.close()
    })

    it('reports an unavailable database', async () => {
      const gone =
        dialect === 'sqlite'
          ? ({ kind: 'sqlite', path: '/nowhere/at/all.db' } as const)
          : ({ kind: 'postgres', url: 'postgres://localhost:1/none' } as const)
      const scanner = createScanner({ database: gone })
      const { signal } = new AbortController()
      await expect(scanner.tally({ kind: 'tally', ...request() }, signal)).rejects.toMatchObject({
        kind: 'unavailable',
      })
      await scanner.close()
    })
  })
})
