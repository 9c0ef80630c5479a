import { checkFlag, compile, type Definitions } from '@halyard/engine'
import { evaluatedPropertiesOf, type Person } from '../../domain/person.ts'
import { linearRegex } from '../../evaluation/linear-regex.ts'
import type { Instant } from '../../instant.ts'
import { invalid } from '../../problem.ts'
import type { Project } from '../../tenancy.ts'

const key = 'filter'
const personTypes: ReadonlySet<unknown> = new Set(['person', 'person_metadata'])

/**
 * Compiles property filters, in PostHog's query format, to a predicate with the semantics of a flag condition: it uses the same engine.
 * Throws `invalid` for filters that cannot be evaluated.
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
    snapshot.evaluate({ distinctId: '', personProperties: evaluatedPropertiesOf(person) }, { now: time }).get(key)
      ?.value === true
}

function parse(text: string): readonly unknown[] {
  let properties: unknown
  try {
    properties = JSON.parse(text)
  } catch {
    throw wrong('properties must be valid JSON.')
  }
  if (!Array.isArray(properties)) throw wrong('properties must be a JSON array of property filters.')
  if (properties.some(property => !personTypes.has(property?.type ?? 'person'))) {
    throw wrong('properties supports only person properties (`"type": "person"` or `"person_metadata"`).')
  }
  return properties
}

const wrong = (message: string) => invalid('properties', 'invalid_input', message)
