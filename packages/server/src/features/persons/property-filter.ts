import { checkFlag, compile, type Definitions } from '@halyard/engine'
import { linearRegex } from '../../evaluation/linear-regex.ts'
import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Project } from '../../tenancy.ts'
import type { Person } from './person.ts'

const key = 'filter'

/**
 * Reads property filters as PostHog sends them in a query, and makes a test of them that answers as a flag condition would: it is the same
 * engine. Raises `invalid` for what cannot be evaluated.
 */
export function readPropertyFilter(text: string, project: Project, now: Instant): (person: Person) => boolean {
  const properties = parse(text)
  const filters = { groups: [{ properties, rollout_percentage: 100 }] }
  const flag = { id: 1, key, active: true, filters }
  const { groupTypes, propertyMatchingVersion } = project
  const definitions: Definitions = { flags: [flag], cohorts: [], groupTypes, propertyMatchingVersion }
  const [issue] = checkFlag(flag, definitions, { regex: linearRegex })
  if (issue) throw wrong(issue.message)
  const snapshot = compile(definitions, { regex: linearRegex })
  const time = Date.parse(now)
  return person =>
    snapshot.evaluate({ distinctId: '', personProperties: person.properties }, { now: time }).get(key)?.value === true
}

function parse(text: string): readonly unknown[] {
  let properties: unknown
  try {
    properties = JSON.parse(text)
  } catch {
    throw wrong('This is not valid JSON.')
  }
  if (!Array.isArray(properties)) throw wrong('Send a JSON list of property filters.')
  if (properties.some(property => (property?.type ?? 'person') !== 'person')) {
    throw wrong('Only filters on properties of the person (`"type": "person"`) can be used here.')
  }
  return properties
}

const wrong = (message: string) => invalid('properties', 'invalid_input', message)
