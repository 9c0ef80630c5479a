import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { type Scenario, startScenario } from '../../testing/scenario.ts'
import { createEvaluator, type Evaluator } from '../evaluator.ts'
import { readEvaluationRequest } from './evaluation-request.ts'
import type { IdentifiedRequest } from './gather-subject.ts'
import { storedSubjects } from './stored-subjects.ts'

const ids = ['ann', 'bob', 'cem', 'dee'] as const
const id = fc.constantFrom(...ids)
const plan = fc.constantFrom('free', 'pro')
const node = fc.constantFrom(0, 1)

/** What clients do, on one of two nodes. */
const action = fc.oneof(
  fc.record({ kind: fc.constant('set' as const), node, id, plan }),
  fc.record({ kind: fc.constant('identify' as const), node, id, other: id }),
  fc.record({ kind: fc.constant('alias' as const), node, id, other: id }),
  fc.record({ kind: fc.constant('merge' as const), node, id, other: id }),
  fc.record({ kind: fc.constant('delete' as const), node, id }),
  fc.record({ kind: fc.constant('join' as const), node, id }),
  fc.record({ kind: fc.constant('leave' as const), node, id }),
  fc.record({ kind: fc.constant('group' as const), node, plan }),
  fc.record({ kind: fc.constant('ungroup' as const), node }),
  fc.record({ kind: fc.constant('stick' as const), node, id, other: id }),
)
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never

onEachDatabase('stored subjects in memory', dialect => {
  let nodes: readonly Scenario[]
  let uncached: Evaluator
  let cohort: string
  beforeAll(async () => {
    const first = await startScenario(dialect)
    nodes = [first, await first.startAnother()]
    uncached = createEvaluator(storedSubjects(first.halyard.database))
    const { body } = await first.post(`${first.project}/cohorts/`, { name: 'Members', is_static: true })
    cohort = `${first.project}/cohorts/${body.id}`
    await capture(first, { event: 'seen', distinct_id: 'first', properties: { $groups: { company: 'acme' } } })
    const inCohort = { key: 'id', type: 'cohort', value: body.id, operator: 'in' }
    const isPro = { key: 'plan', operator: 'exact', value: 'pro' }
    const flags = {
      pro: { groups: [{ properties: [{ ...isPro, type: 'person' }] }] },
      member: { groups: [{ properties: [inCohort] }] },
      company: {
        aggregation_group_type_index: 0,
        groups: [{ properties: [{ ...isPro, type: 'group', group_type_index: 0 }] }],
      },
      sticky: { groups: [{ properties: [], rollout_percentage: 50 }] },
    }
    for (const [key, filters] of Object.entries(flags)) {
      const made = await first.post(`${first.project}/feature_flags/`, {
        key,
        filters,
        ensure_experience_continuity: key === 'sticky',
      })
      expect(made.status).toBe(201)
    }
  })
  afterAll(() => nodes[0]?.close())

  async function capture(s: Scenario, event: object): Promise<void> {
    expect((await s.post('/capture/', { api_key: nodes[0]!.projectToken, ...event })).status).toBe(200)
  }

  const groups = { company: 'acme' }

  async function evaluated(s: Scenario, distinctId: string, more: object = {}): Promise<Record<string, boolean>> {
    const request = { token: nodes[0]!.projectToken, distinct_id: distinctId, groups, ...more }
    let flags: Record<string, { enabled: boolean }> = {}
    // A lookup on a busy machine may take too long; then the response says so.
    const isComplete = async () => {
      const { body } = await s.post('/flags/?v=2', request)
      flags = body.flags
      return body.errorsWhileComputingFlags === false
    }
    await expect.poll(isComplete).toBe(true)
    return Object.fromEntries(Object.entries(flags).map(([key, { enabled }]) => [key, enabled]))
  }

  /** The same from the database. */
  async function expected(distinctId: string): Promise<Record<string, boolean>> {
    const served = (await nodes[0]!.halyard.serving.snapshots.forProject(nodes[0]!.projectId))!
    const request = readEvaluationRequest({ distinct_id: distinctId, groups }, {}) as IdentifiedRequest
    const { outcomes } = await uncached.evaluate(served, request)
    const { flags } = served.snapshot
    return Object.fromEntries(
      flags.map((flag, index) => [flag.key, flag.outcomes[outcomes.outcomeIndex(index)]!.enabled]),
    )
  }

  const expectedOfAll = () => Promise.all(ids.map(expected))
  const evaluatedOfAll = (s: Scenario) => Promise.all(ids.map(one => evaluated(s, one)))

  async function personOf(s: Scenario, distinctId: string): Promise<string | undefined> {
    return (await s.get(`${nodes[0]!.project}/persons/?distinct_id=${distinctId}`)).body.results[0]?.uuid
  }

  async function run(s: Scenario, done: Action): Promise<void> {
    if (done.kind === 'set') {
      await capture(s, { event: 'seen', distinct_id: done.id, properties: { $set: { plan: done.plan } } })
    } else if (done.kind === 'identify') {
      await capture(s, { event: '$identify', distinct_id: done.id, properties: { $anon_distinct_id: done.other } })
    } else if (done.kind === 'alias' || done.kind === 'merge') {
      const event = done.kind === 'alias' ? '$create_alias' : '$merge_dangerously'
      await capture(s, { event, distinct_id: done.id, properties: { alias: done.other } })
    } else if (done.kind === 'group') {
      const properties = { $group_type: 'company', $group_key: 'acme', $group_set: { plan: done.plan } }
      await capture(s, { event: '$groupidentify', distinct_id: '$company_acme', properties })
    } else if (done.kind === 'ungroup') {
      await s.delete(`${nodes[0]!.project}/groups/?group_type_index=0&group_key=acme`)
    } else if (done.kind === 'stick') {
      await evaluated(s, done.id, { $anon_distinct_id: done.other })
    } else if (done.kind === 'delete') {
      const person = await personOf(s, done.id)
      if (person) expect((await s.delete(`${nodes[0]!.project}/persons/${person}/`)).status).toBe(202)
    } else {
      const path = done.kind === 'join' ? 'add_persons_to_static_cohort' : 'remove_person_from_static_cohort'
      expect((await s.patch(`${cohort}/${path}/`, { distinct_ids: [done.id] })).status).toBe(200)
    }
  }

  it('are current with the response to a write on this node, and soon on others', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(action, { minLength: 1, maxLength: 10 }), async actions => {
        for (const done of actions) {
          const writer = nodes[done.node]!
          // Lookups that began before the write must not be cached after it.
          await Promise.all([run(writer, done), ...nodes.map(evaluatedOfAll)])
          const current = await expectedOfAll()
          expect(await evaluatedOfAll(writer)).toEqual(current)
          await expect.poll(() => evaluatedOfAll(nodes[1 - done.node]!), { interval: 10 }).toEqual(current)
        }
      }),
      { numRuns: 10 },
    )
  }, 240_000)
})
