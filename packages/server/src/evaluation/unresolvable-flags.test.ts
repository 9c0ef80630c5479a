import { compile } from '@halyard/engine'
import { expect, it } from 'vitest'
import { linearRegex } from './linear-regex.ts'
import type { ServedProject } from './projects/served-project.ts'
import { readEvaluationRequest } from './subjects/evaluation-request.ts'
import { unresolvableFlags } from './unresolvable-flags.ts'

const flagCount = 500
const flags = Array.from({ length: flagCount }, (_, n) => {
  const key = n % 2 === 0 ? 'given' : 'stored'
  const properties = [{ key, type: 'person', operator: 'exact', value: 'x' }]
  return { id: n + 1, key: `flag-${n}`, active: true, filters: { groups: [{ properties }] } }
})
const definitions = { flags, cohorts: [], groupTypes: {}, propertyMatchingVersion: 2 } as Parameters<typeof compile>[0]
const snapshot = compile(definitions, { regex: linearRegex })
const project = { groupTypes: {}, propertyMatchingVersion: 2 }

it('analyzes a bounded number of flags in one request; later requests continue until all are known', () => {
  const served = { snapshot, project, cohorts: [] } as unknown as ServedProject
  const unresolvable = unresolvableFlags(served)
  const request = { ...readEvaluationRequest({ person_properties: { given: 'x' } }, {}), distinctId: 'user' }
  const resolved = () => {
    const isUnresolvable = unresolvable(request)
    return flags.flatMap((_flag, index) => (isUnresolvable(index) ? [] : [index]))
  }
  const first = resolved()
  expect(first.length).toBeGreaterThan(0)
  expect(first.length).toBeLessThan(flagCount / 2)
  const requests = [resolved(), resolved(), resolved()]
  // Only flags that depend on a stored property stay unresolvable.
  expect(requests.at(-1)).toEqual(flags.flatMap((_flag, index) => (index % 2 === 0 ? [index] : [])))
})
