import { describe, expect, it } from 'vitest'
import { ApiProblem } from '../../api/problem.ts'
import { de } from '../../i18n/de.ts'
import { en } from '../../i18n/en.ts'
import { sampleFlag } from '../../testing/sample-flag.ts'
import { readFilters } from '../filters.ts'
import { draftOf } from './draft.ts'
import { definitionsFor, draftDefinition } from './draft-definitions.ts'
import { problemsOf, unfilledOf } from './draft-problems.ts'

const project = { group_types: {}, property_matching_version: 2 }
const property = (fields: object) => ({ key: 'plan', type: 'person', operator: 'exact', value: ['pro'], ...fields })
const filtersWith = (...properties: object[]) => ({ groups: [{ properties, rollout_percentage: 100 }] })

function problems(filters: Record<string, unknown>, error: unknown = null, t = en) {
  const definition = draftDefinition(draftOf(sampleFlag({ filters })), 1)
  return problemsOf(t, definition, definitionsFor(definition, [], [], project), error)
}

describe('the validation of a draft', () => {
  it('finds nothing in a valid flag', () => {
    expect(problems(filtersWith(property({})))).toEqual([])
  })

  it('reports the engine’s issues with their path', () => {
    const patternProblems = problems(filtersWith(property({ operator: 'regex', value: '(' })))
    expect(patternProblems).toHaveLength(1)
    expect(patternProblems[0]?.path).toContain('filters.groups[0].properties[0]')
  })

  it('translates the engine’s issues', () => {
    const [patternProblem] = problems(filtersWith(property({ operator: 'regex', value: '(' })), null, de)
    expect(patternProblem?.message).toBe('Ungültiger regulärer Ausdruck')
  })

  it('adds the server’s rejection of the filters at its path, once', () => {
    const rejection = (detail: string) => new ApiProblem(400, { attr: 'filters', code: 'invalid', detail })
    expect(problems(filtersWith(), rejection('filters.groups[0].variant: No such variant.'))).toEqual([
      { path: 'filters.groups[0].variant', message: 'No such variant.' },
    ])
    const mismatch = 'filters.payloads.true.size is required.'
    expect(problems(filtersWith(), rejection(mismatch))).toEqual([
      { path: 'filters.payloads.true.size', message: mismatch },
    ])
    expect(problems(filtersWith(), rejection('Too large.'))).toEqual([{ path: 'filters', message: 'Too large.' }])
    expect(problems(filtersWith(), new ApiProblem(400, { attr: 'key', detail: 'Taken.' }))).toEqual([])
  })

  it('finds filters that were left empty', () => {
    const unfilled = (fields: object) => unfilledOf(en, readFilters(filtersWith(property(fields))))
    expect(unfilled({})).toEqual([])
    expect(unfilled({ value: [] })).toEqual([
      { path: 'filters.groups[0].properties[0].value', message: en.editor.valueMissing },
    ])
    expect(unfilled({ key: ' ' })[0]).toMatchObject({ message: en.editor.propertyMissing })
    expect(unfilled({ type: 'cohort', value: '' })[0]).toMatchObject({ message: en.editor.cohortMissing })
    expect(unfilled({ type: 'flag', key: '' })[0]).toMatchObject({ message: en.editor.flagMissing })
    expect(unfilled({ operator: 'is_set', value: 'is_set' })).toEqual([])
    expect(unfilled({ operator: 'gt', value: '' })).toHaveLength(1)
  })
})
