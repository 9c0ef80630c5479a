import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { distinctIdsPerPersonMax, type Person } from '../../domain/person.ts'
import { propertiesCharactersMax } from '../../domain/properties.ts'
import { createPersonLedger, type PersonDraft, type PersonLedger } from './person-ledger.ts'

const at = '2026-01-01T00:00:00.000000Z'
const later = '2026-01-02T00:00:00.000000Z'
const set = (properties: Record<string, unknown>) => ({ set: properties, setOnce: {}, unset: [] })

const person = (id: number, more: Partial<Person> = {}): Person => ({
  id,
  projectId: 1,
  uuid: `stored-${id}`,
  properties: {},
  isIdentified: false,
  distinctIdCount: 1,
  version: 1,
  createdAt: at,
  ...more,
})

const ledgerOf = (known: Record<string, Person> = {}): PersonLedger => {
  let n = 0
  return createPersonLedger(new Map(Object.entries(known)), () => `new-${n++}`)
}

const only = (ledger: PersonLedger): PersonDraft => {
  expect(ledger.drafts()).toHaveLength(1)
  return ledger.drafts()[0] as PersonDraft
}

describe('person ledger', () => {
  it('creates one person for an id that is seen repeatedly', () => {
    const ledger = ledgerOf()
    ledger.see('a', at)
    ledger.see('a', later)
    expect(only(ledger)).toMatchObject({ stored: undefined, newDistinctIds: ['a'], isIdentified: false, createdAt: at })
  })

  it('writes nothing when nothing changed', () => {
    const ledger = ledgerOf({ a: person(1, { properties: { plan: 'pro', list: [1, { b: 2 }] }, isIdentified: true }) })
    ledger.see('a', later)
    ledger.identify('a', later)
    ledger.update(
      'a',
      { set: { plan: 'pro', list: [1, { b: 2 }] }, setOnce: { plan: 'free' }, unset: ['nothing'] },
      later,
    )
    expect(ledger.drafts()).toEqual([])
  })

  it('sets once, then sets, then unsets', () => {
    const ledger = ledgerOf({ a: person(1, { properties: { kept: 1, gone: 1 } }) })
    ledger.update('a', { set: { x: 'set', y: 2 }, setOnce: { kept: 2, x: 'once' }, unset: ['gone', 'y'] }, at)
    expect(only(ledger).properties).toEqual({ kept: 1, x: 'set' })
  })

  it('stores `__proto__` and `constructor` as ordinary properties', () => {
    const ledger = ledgerOf()
    ledger.update('a', set(JSON.parse('{"__proto__": {"polluted": true}, "constructor": 1}')), at)
    expect(Object.keys(only(ledger).properties)).toEqual(['__proto__', 'constructor'])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  it('binds the unknown id to the existing person, whichever of the two it is', () => {
    for (const known of ['anonymous-1', 'user']) {
      const ledger = ledgerOf({ [known]: person(1) })
      expect(ledger.merge('user', 'anonymous-1', at, 'identify')).toBe('merged')
      const unknown = known === 'user' ? 'anonymous-1' : 'user'
      expect(only(ledger)).toMatchObject({ newDistinctIds: [unknown], isIdentified: true, absorbed: [] })
    }
  })

  it('merges two stored persons: the identified one survives and its properties take precedence', () => {
    const [user, anonymous] = [
      person(1, { properties: { plan: 'pro', a: 1 }, isIdentified: true, createdAt: later }),
      person(2, { properties: { plan: 'free', b: 2 } }),
    ]
    const ledger = ledgerOf({ user, anon: anonymous })
    expect(ledger.merge('user', 'anon', at, 'identify')).toBe('merged')
    expect(only(ledger)).toMatchObject({
      stored: user,
      absorbed: [anonymous],
      properties: { plan: 'pro', a: 1, b: 2 },
      createdAt: at,
      distinctIdCount: 2,
    })
  })

  it('does not merge an identified person into another, unless forced', () => {
    const known = { user: person(1), other: person(2, { isIdentified: true }) }
    expect(ledgerOf(known).merge('user', 'other', at, 'identify')).toBe('already_identified')
    expect(ledgerOf(known).merge('user', 'other', at, 'alias')).toBe('already_identified')
    expect(ledgerOf(known).merge('user', 'other', at, 'force')).toBe('merged')
    expect(ledgerOf(known).merge('unknown', 'other', at, 'identify')).toBe('already_identified')
    expect(ledgerOf(known).merge('unknown', 'other', at, 'alias')).toBe('merged')
  })

  it.each(['null', 'undefined', '0', 'NaN', '"anonymous"', "'guest'", '[object Object]', 'True'])(
    'never merges the placeholder id %s',
    id => {
      const ledger = ledgerOf({ user: person(1) })
      expect(ledger.merge('user', id, at, 'identify')).toBe('meaningless_id')
      expect(ledger.merge(id, 'user', at, 'identify')).toBe('meaningless_id')
      expect(ledger.drafts()).toEqual([])
    },
  )

  it('follows chains of merges to the surviving person', () => {
    const [a, b, c] = [person(1), person(2), person(3)]
    const ledger = ledgerOf({ a, b, c })
    ledger.merge('b', 'a', at, 'force')
    ledger.merge('c', 'b', at, 'force')
    ledger.update('a', set({ seen: true }), at)
    expect(only(ledger)).toMatchObject({ stored: c, absorbed: [b, a], properties: { seen: true } })
  })

  it('stops at the maximum number of ids per person', () => {
    const full = person(1, { distinctIdCount: distinctIdsPerPersonMax })
    expect(ledgerOf({ user: full }).merge('user', 'one-more', at, 'identify')).toBe('too_many_ids')
    expect(ledgerOf({ user: full, other: person(2) }).merge('user', 'other', at, 'identify')).toBe('too_many_ids')
  })

  it('retains the previous properties when the new ones are too large', () => {
    const ledger = ledgerOf({ a: person(1, { properties: { small: true } }) })
    ledger.update('a', set({ large: 'x'.repeat(propertiesCharactersMax) }), at)
    expect(only(ledger).properties).toEqual({ small: true })
    expect(ledger.refusedProperties()).toBe(1)
  })
})

/** Each anonymous id belongs to one user; each step affects one id and has its own property name. */
type Step = { kind: 'identify'; anonymous: string; user: string } | { kind: 'set'; id: string; name: string }

const stepsArbitrary = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 8 }).map(users =>
  users.flatMap((user, n): Step[] => [
    { kind: 'identify', anonymous: `anon-${n}`, user: `user-${user}` },
    { kind: 'set', id: `anon-${n}`, name: `p${n}` },
    { kind: 'set', id: `user-${user}`, name: `q${n}` },
  ]),
)

function apply(ledger: PersonLedger, steps: readonly Step[]): void {
  for (const step of steps) {
    if (step.kind === 'set') ledger.update(step.id, set({ [step.name]: step.id }), at)
    else ledger.merge(step.user, step.anonymous, at, 'identify')
  }
}

/** The persons of a ledger, in a form that does not depend on the order of events. */
const personsOf = (ledger: PersonLedger) =>
  ledger
    .drafts()
    .map(draft => ({
      ids: [...draft.newDistinctIds].sort(),
      properties: Object.fromEntries(Object.entries(draft.properties).sort()),
      isIdentified: draft.isIdentified,
      count: draft.distinctIdCount,
    }))
    .sort((a, b) => (a.ids.join() < b.ids.join() ? -1 : 1))

describe('merging, for any order of events', () => {
  it('ends in the same persons with the same properties', () => {
    fc.assert(
      fc.property(
        stepsArbitrary.chain(steps =>
          fc.tuple(fc.constant(steps), fc.shuffledSubarray(steps, { minLength: steps.length })),
        ),
        ([steps, shuffled]) => {
          const [one, other] = [ledgerOf(), ledgerOf()]
          apply(one, steps)
          apply(other, shuffled)
          expect(personsOf(other)).toEqual(personsOf(one))
        },
      ),
    )
  })

  it('binds every id to exactly one person and counts the ids correctly', () => {
    const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f')
    const step = fc.record({ into: id, from: id, rule: fc.constantFrom('identify', 'alias', 'force') })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 20 }), steps => {
        const ledger = ledgerOf()
        for (const { into, from, rule } of steps) ledger.merge(into, from, at, rule)
        const ids = ledger.drafts().flatMap(draft => draft.newDistinctIds)
        expect(new Set(ids).size).toBe(ids.length)
        for (const draft of ledger.drafts()) expect(draft.distinctIdCount).toBe(draft.newDistinctIds.length)
      }),
    )
  })
})
