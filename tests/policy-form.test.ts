import { beforeAll, describe, expect, it } from 'vitest'
import { suiteScenario } from '../packages/server/src/testing/suite-scenario.ts'
import {
  type ConditionDraft,
  choicesFor,
  emptyCondition,
  fieldsFor,
  fieldType,
  fitCondition,
  operatorsFor,
  typesFor,
  writeCondition,
} from '../packages/web/src/change-control/policies/policy-condition.ts'
import { en } from '../packages/web/src/i18n/en.ts'

const actions = Object.keys(en.policies.actions)

/** Values that can be entered for a field. */
const valuesFor = (field: string): readonly string[] =>
  choicesFor(field) ?? (fieldType(field) === 'percentage' ? ['50'] : ['50', 'true', 'some text'])

/** Every condition that the form can produce for an action. */
const offered = (action: string) =>
  typesFor(action).flatMap(type => {
    const draft = { ...emptyCondition, type, value: '5' }
    if (type === 'any_change') return fieldsFor(type, 'name').map(field => ({ ...draft, field }))
    if (type !== 'before_after' && type !== 'change_amount') return [draft]
    return fieldsFor(type, 'archived').flatMap(field =>
      operatorsFor(field).flatMap(operator => valuesFor(field).map(value => ({ type, field, operator, value }))),
    )
  })

describe('the form of approval policies', () => {
  const s = suiteScenario('sqlite')
  let policy: string
  beforeAll(async () => {
    const { body } = await s.post(`${s.project}/approval_policies/`, { action_key: '*' })
    policy = `${s.project}/approval_policies/${body.id}/`
  })

  it.each(actions)('offers nothing for %s that the server refuses', async action_key => {
    const drafts = offered(action_key)
    expect(drafts.length).toBeGreaterThan(3)
    for (const draft of drafts) {
      const conditions = writeCondition(draft)
      const reply = await s.patch(policy, { action_key, conditions })
      expect(reply.status, `${JSON.stringify(conditions)}: ${reply.text}`).toBe(200)
      expect(reply.body.conditions).toEqual(conditions)
    }
  })

  it('replaces what no longer fits when the action, the type or the field changes', async () => {
    const drafts = actions.flatMap(offered)
    const shapeOf = (draft: ConditionDraft) => JSON.stringify({ ...writeCondition(draft), value: undefined })
    for (const action_key of actions) {
      const shapes = offered(action_key).map(shapeOf)
      for (const draft of drafts) {
        const fitted = fitCondition(draft, action_key)
        expect(shapes).toContain(shapeOf(fitted))
        expect(fitCondition(fitted, action_key)).toEqual(fitted)
      }
    }
    const amount = { type: 'change_amount', field: 'rollout_percentage', operator: '>', value: '5' } as const
    expect(fitCondition({ ...amount, type: 'before_after', field: 'active' }, '*')).toEqual({
      type: 'before_after',
      field: 'active',
      operator: '==',
      value: 'true',
    })
    expect(fitCondition(amount, 'cohort.update').type).toBe('always')
  })
})
