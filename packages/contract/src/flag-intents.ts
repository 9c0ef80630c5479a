import Type from 'typebox'
import { Flag, FlagParams } from './flags.ts'
import { inProject, route } from './route.ts'
import { FreeObjectInput, FreeValueInput, kibibyte, mebibyte } from './schema.ts'

const tag = 'Flag intents'
const flag = '/api/projects/:project_id/feature_flags/:id' as const

/** The flag after the action. */
const Result = Type.Object({
  ...Flag.properties,
  dry_run: Type.Optional(Type.Boolean({ description: 'Nothing was stored; this is how the flag would be.' })),
  requires_approval: Type.Optional(Type.Boolean({ description: 'With `dry_run`: the change would need approval.' })),
})

const preconditions = {
  expected_version: Type.Optional(Type.Integer({ minimum: 1, description: '409 unless the flag has this version.' })),
  dry_run: Type.Optional(Type.Boolean({ description: 'Checks the change and returns the result without storing it.' })),
}
const ConditionIndex = Type.Integer({ minimum: 0, description: 'Zero-based index of the condition.' })
const Percentage = Type.Number({ minimum: 0, maximum: 100 })

const common = { method: 'POST', tag, access: inProject('feature_flag:write'), params: FlagParams } as const

export const flagIntentRoutes = {
  enable: route({
    ...common,
    path: `${flag}/enable`,
    summary: 'Switch the flag on; idempotent, the body is ignored',
    answers: { 200: Flag },
  }),
  disable: route({
    ...common,
    path: `${flag}/disable`,
    summary: 'Switch the flag off; idempotent, the body is ignored',
    answers: { 200: Flag },
  }),
  archive: route({
    ...common,
    path: `${flag}/archive`,
    summary: 'Archive the flag and switch it off; refused while it is evaluated or needed, unless forced with a reason',
    body: Type.Object({
      force: Type.Optional(Type.Boolean()),
      reason: Type.Optional(Type.String({ maxLength: 2000 })),
    }),
    bodyOptional: true,
    answers: { 200: Flag },
  }),
  unarchive: route({
    ...common,
    path: `${flag}/unarchive`,
    summary: 'Bring an archived flag back, switched off; idempotent, the body is ignored',
    answers: { 200: Flag },
  }),
  setRollout: route({
    ...common,
    path: `${flag}/set_rollout`,
    summary: 'Set the rollout percentage of one condition',
    body: Type.Object({
      rollout_percentage: Percentage,
      condition_index: Type.Optional(ConditionIndex),
      ...preconditions,
    }),
    answers: { 200: Result },
  }),
  addCondition: route({
    ...common,
    path: `${flag}/add_condition`,
    summary: 'Add a condition, at the end or before another one',
    body: Type.Object({
      condition: FreeObjectInput(256 * kibibyte, '`{properties, rollout_percentage, variant}`.'),
      before: Type.Optional(ConditionIndex),
      ...preconditions,
    }),
    answers: { 200: Result },
  }),
  removeCondition: route({
    ...common,
    path: `${flag}/remove_condition`,
    summary: 'Remove one condition',
    body: Type.Object({ condition_index: ConditionIndex, ...preconditions }),
    answers: { 200: Result },
  }),
  setVariantSplit: route({
    ...common,
    path: `${flag}/set_variant_split`,
    summary: 'Set the percentages of the variants; they must add up to 100',
    body: Type.Object({
      variants: Type.Record(Type.String(), Percentage, { description: 'Variant key → percentage, for every variant.' }),
      ...preconditions,
    }),
    answers: { 200: Result },
  }),
  setPayload: route({
    ...common,
    path: `${flag}/set_payload`,
    summary: 'Set or remove (`null`) the payload of a variant, or of `true`',
    body: Type.Object({
      variant: Type.Optional(Type.String({ maxLength: 400, description: 'Variant key; `true` without variants.' })),
      payload: FreeValueInput(mebibyte),
      ...preconditions,
    }),
    answers: { 200: Result },
  }),
}
