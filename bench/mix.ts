import type { CohortDefinition, Definitions, FlagDefinition, Subject } from '@halyard/engine'

/**
 * A realistic mix of flags: of ten, four are boolean with one to three conditions on properties and a rollout, three have three variants
 * with payloads, two have only a rollout, and one uses a cohort.
 */
export function mixedDefinitions(flagCount: number): Definitions {
  const flags = Array.from({ length: flagCount }, (_, index) => mixedFlag(index))
  return { flags, cohorts, groupTypes: { '0': 'company' }, propertyMatchingVersion: 2 }
}

const countries = ['NO', 'SE', 'DE', 'FR', 'US', 'JP']
const plans = ['free', 'pro', 'team', 'enterprise']

const cohorts: CohortDefinition[] = Array.from({ length: 5 }, (_, index) => ({
  id: index + 1,
  isStatic: false,
  filters: {
    properties: {
      type: 'OR',
      values: [
        { type: 'AND', values: [person('plan', plans[index % 4]), person('country', countries.slice(0, 3))] },
        { type: 'AND', values: [person('email', '@example.com', 'icontains')] },
      ],
    },
  },
}))

function person(key: string, value: unknown, operator = 'exact') {
  return { key, type: 'person', value, operator }
}

function filters(index: number, count: number) {
  const all = [
    person('country', countries.slice(index % 5, (index % 5) + 2)),
    person('plan', plans[index % 4]),
    person('age', String(18 + (index % 30)), 'gt'),
    person('email', ['@example.com', '@acme.test', 'user'][index % 3], 'icontains'),
    person('version', `${index % 3}.${index % 7}.0`, 'semver_gte'),
    person('joined', '2023-06-01', 'is_date_after'),
    person('browser', 'Safari', 'is_not'),
  ]
  return Array.from({ length: count }, (_, offset) => all[(index + offset * 3) % all.length])
}

function mixedFlag(index: number): FlagDefinition {
  const kind = index % 10
  const flag = { id: index + 1, key: `feature-${index}-rollout`, active: true, version: 1 }
  if (kind < 4) {
    const groups = Array.from({ length: 1 + (index % 3) }, (_, at) => ({
      properties: filters(index + at, 1 + ((index + at) % 3)),
      rollout_percentage: [25, 50, 75][at % 3],
    }))
    return { ...flag, filters: { groups, payloads: {} } }
  }
  if (kind < 7) {
    const variants = ['control', 'test-a', 'test-b'].map((key, at) => ({ key, rollout_percentage: [34, 33, 33][at] }))
    const payloads = { control: '{"color":"grey"}', 'test-a': '{"color":"blue"}', 'test-b': '{"color":"green"}' }
    return {
      ...flag,
      filters: { groups: [{ properties: [], rollout_percentage: 100 }], multivariate: { variants }, payloads },
    }
  }
  if (kind < 9) return { ...flag, filters: { groups: [{ properties: [], rollout_percentage: 10 + (index % 80) }] } }
  const inCohort = { key: 'id', type: 'cohort', value: 1 + (index % 5), operator: 'in' }
  return { ...flag, filters: { groups: [{ properties: [inCohort], rollout_percentage: 60 }] } }
}

export const people = (from: number, to: number): Subject[] =>
  Array.from({ length: to - from }, (_, index) => personAt(from + index))

/** A person with ten properties; every second one has a UUID as its distinct id. */
export function personAt(index: number): Subject {
  return {
    distinctId: index % 2 === 0 ? uuid(index) : `user-${index}`,
    personProperties: {
      country: countries[index % 6],
      plan: plans[index % 4],
      age: 15 + (index % 60),
      email: `person${index}@${['example.com', 'acme.test', 'mail.test'][index % 3]}`,
      version: `${index % 4}.${index % 9}.${index % 5}`,
      joined: `202${index % 5}-0${1 + (index % 9)}-11T08:00:00Z`,
      browser: ['Chrome', 'Safari', 'Firefox'][index % 3],
      os: ['macOS', 'Windows', 'Linux'][index % 3],
      beta: index % 7 === 0,
      seats: index % 50,
    },
    groups: {},
    groupProperties: {},
  }
}

function uuid(index: number): string {
  const hex = Array.from({ length: 4 }, (_, part) => Math.imul(index * 4 + part + 1, 0x9e3779b1) >>> 0)
    .map(word => word.toString(16).padStart(8, '0'))
    .join('')
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}
