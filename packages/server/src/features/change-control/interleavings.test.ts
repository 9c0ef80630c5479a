import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { onEachDatabase } from '../../testing/databases.ts'
import { type Client, clientOf, type Scenario, startScenario } from '../../testing/scenario.ts'

/** Random interleavings of edits, requests, approvals, rebases and applies on two nodes. */

const conditions = 3
type Operation = { readonly kind: 'edit' | 'request' | 'approve' | 'rebase' | 'apply'; readonly at: number }
const operation: fc.Arbitrary<Operation> = fc.record({
  kind: fc.constantFrom('edit', 'request', 'request', 'approve', 'approve', 'rebase', 'apply'),
  at: fc.nat(conditions - 1),
})
/** Operations of a step are sent at the same moment, alternately to both nodes. */
const steps = fc.array(fc.array(operation, { minLength: 1, maxLength: 3 }), { minLength: 4, maxLength: 8 })

interface Content {
  readonly name: string
  readonly filters: { readonly groups: readonly { readonly rollout_percentage: number }[] }
}
/** What a change can touch: the name, and the percentage of each condition. */
const unitsOf = ({ name, filters }: Partial<Content>): Record<string, unknown> => ({
  ...(name !== undefined && { name }),
  ...Object.fromEntries((filters?.groups ?? []).map((group, n) => [`condition ${n}`, group.rollout_percentage])),
})
const changedUnits = (before: Partial<Content>, after: Partial<Content>): Record<string, unknown> => {
  const old = unitsOf(before)
  return Object.fromEntries(Object.entries(unitsOf(after)).filter(([unit, value]) => old[unit] !== value))
}

onEachDatabase('change requests on two nodes', dialect => {
  let nodes: Scenario[]
  let approvers: Client[]
  beforeAll(async () => {
    const first = await startScenario(dialect)
    const approver = await first.join('approver')
    const second = await first.startAnother()
    nodes = [first, second]
    approvers = nodes.map(({ url }) => clientOf(url, approver.key))
    const policy = { action_key: 'feature_flag.rollout', approver_config: { users: [approver.id] } }
    expect((await first.post(`${first.project}/approval_policies/`, policy)).status).toBe(201)
  })
  afterAll(() => nodes[0]?.close())

  let runs = 0
  let values = 0
  let appliedRequests = 0

  it('apply exactly what was approved, once, and keep what others wrote', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async given => {
        const [first] = nodes as [Scenario]
        const groups = Array.from({ length: conditions }, (_, n) => ({
          properties: [{ key: `p${n}`, type: 'person', value: 'x', operator: 'exact' }],
          rollout_percentage: 0,
        }))
        const { body: flag } = await first.post(`${first.project}/feature_flags/`, {
          key: `flag-${runs++}`,
          filters: { groups },
        })
        const flagPath = `${first.project}/feature_flags/${flag.id}/`
        const requestsPath = `${first.project}/change_requests/`
        const requests: number[] = []
        const acknowledged: string[] = []

        async function send({ kind, at }: Operation, node: number): Promise<void> {
          const [client, approver] = [nodes[node]!, approvers[node]!]
          const value = ++values
          if (kind === 'edit') {
            const name = `edit ${value}`
            if ((await client.patch(flagPath, { name })).status === 200) acknowledged.push(name)
            return
          }
          if (kind === 'request') {
            const { filters } = (await client.get(flagPath)).body
            filters.groups[at].rollout_percentage = (value % 997) / 10
            const reply = await client.post(requestsPath, { flag_id: flag.id, patch: { filters } })
            if (reply.status === 201) requests.push(reply.body.id)
            return
          }
          const id = requests.at(-1 - at)
          if (id === undefined) return
          const body = kind === 'rebase' ? { resolve: 'mine' } : {}
          const reply = await (kind === 'approve' ? approver : client).post(`${requestsPath}${id}/${kind}/`, body)
          expect(reply.status, reply.text).toBeLessThan(500)
        }
        for (const step of given) await Promise.all(step.map((one, n) => send(one, n % nodes.length)))

        const { body: versions } = await first.get(`${flagPath}versions/?limit=1000`)
        const contents: Content[] = versions.results.map((version: { content: Content }) => version.content).reverse()
        const applied = new Map<number, Record<string, unknown>>()
        for (const id of requests) {
          const { body: request } = await first.get(`${requestsPath}${id}/`)
          if (request.state !== 'applied') continue
          // Approved in exactly this content.
          expect(
            request.approvals.some((one: Record<string, unknown>) => one.is_current && one.decision === 'approved'),
          ).toBe(true)
          expect(applied.has(request.applied_version) && request.applied_version > 1).toBe(false)
          appliedRequests++
          applied.set(request.applied_version, changedUnits(request.base, request.intent))
        }
        const edits: string[] = []
        for (const [n, content] of contents.entries()) {
          if (n === 0) continue
          const changed = changedUnits(contents[n - 1]!, content)
          const approved = applied.get(n + 1)
          // A version is one approved request or one direct edit, and changes nothing else.
          if (approved) for (const [unit, value] of Object.entries(changed)) expect(value).toEqual(approved[unit])
          else expect(Object.keys(changed)).toEqual(['name'])
          if (approved) expect(unitsOf(content)).toMatchObject(approved)
          else edits.push(content.name)
        }
        expect(edits.sort()).toEqual(acknowledged.sort())
      }),
      { numRuns: 6, endOnFailure: true },
    )
    expect(appliedRequests).toBeGreaterThan(0)
  }, 120_000)
})
