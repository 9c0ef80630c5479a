import Type from 'typebox'
import { inProject, routesOf } from '../route.ts'
import { Bool, FreeObjectInput, FreeValueInput, kibibyte, mebibyte, NamedObject, TextInput } from '../schema.ts'
import { Flag, FlagParams } from './flags.ts'

const flag = '/api/projects/:project_id/feature_flags/:id' as const

/** The flag after the action. */
const Result = NamedObject('FeatureFlagEdit', 'The flag after the edit.', {
  ...Flag.properties,
  dry_run: Type.Optional(Bool('Nothing was stored; this is how the flag would be.')),
  requires_approval: Type.Optional(Bool('With `dry_run`: the change would need approval.')),
})

const preconditions = {
  expected_version: Type.Optional(Type.Integer({ minimum: 1, description: '409 unless the flag has this version.' })),
  dry_run: Type.Optional(Bool('Checks the change and returns the result without storing it.')),
}
const ConditionIndex = Type.Integer({ minimum: 0, description: 'Zero-based index of the condition.' })
const Percentage = Type.Number({ minimum: 0, maximum: 100, description: 'Percentage.', examples: [50] })

const route = routesOf('Flag edits', {
  access: inProject('feature_flag:write'),
  params: FlagParams,
  mayConflict: true,
})

export const flagEditRoutes = {
  enable: route.post(`${flag}/enable`, {
    operationId: 'enableFeatureFlag',
    summary: 'Switch the flag on; idempotent, the body is ignored',
    description: 'Repeating it changes nothing. An archived flag cannot be enabled.',
    responses: { 200: Flag },
  }),
  disable: route.post(`${flag}/disable`, {
    operationId: 'disableFeatureFlag',
    summary: 'Switch the flag off; idempotent, the body is ignored',
    description: 'Repeating it changes nothing. Always possible, unless an approval policy names it.',
    responses: { 200: Flag },
  }),
  archive: route.post(`${flag}/archive`, {
    operationId: 'archiveFeatureFlag',
    summary: 'Archive the flag and switch it off; refused while it is evaluated or needed, unless forced with a reason',
    description:
      'A flag is in use when it was evaluated within 7 days, when another flag depends on it, or when scanned code names it.',
    body: Type.Object({
      force: Type.Optional(Bool('Archive a flag that is in use.')),
      reason: Type.Optional(TextInput(2000, 'Required with `force`.')),
    }),
    bodyOptional: true,
    responses: { 200: Flag },
  }),
  unarchive: route.post(`${flag}/unarchive`, {
    operationId: 'unarchiveFeatureFlag',
    summary: 'Bring an archived flag back, switched off; idempotent, the body is ignored',
    description: 'Repeating it changes nothing.',
    responses: { 200: Flag },
  }),
  setRollout: route.post(`${flag}/set_rollout`, {
    operationId: 'setFeatureFlagRollout',
    summary: 'Set the rollout percentage of one condition',
    description: 'Changes nothing else of the flag, whatever others edit.',
    body: Type.Object({
      rollout_percentage: Percentage,
      condition_index: Type.Optional(ConditionIndex),
      ...preconditions,
    }),
    responses: { 200: Result },
  }),
  addCondition: route.post(`${flag}/add_condition`, {
    operationId: 'addFeatureFlagCondition',
    summary: 'Add a condition, at the end or before another one',
    description: 'The other conditions stay as they are.',
    body: Type.Object({
      condition: FreeObjectInput(256 * kibibyte, '`{properties, rollout_percentage, variant}`.', {
        properties: [],
        rollout_percentage: 10,
      }),
      before: Type.Optional(ConditionIndex),
      ...preconditions,
    }),
    responses: { 200: Result },
  }),
  removeCondition: route.post(`${flag}/remove_condition`, {
    operationId: 'removeFeatureFlagCondition',
    summary: 'Remove one condition',
    description: 'The other conditions stay as they are.',
    body: Type.Object({ condition_index: ConditionIndex, ...preconditions }),
    responses: { 200: Result },
  }),
  setVariantSplit: route.post(`${flag}/set_variant_split`, {
    operationId: 'setFeatureFlagVariantSplit',
    summary: 'Set the percentages of the variants; they must add up to 100',
    description: 'Names, payloads and conditions stay as they are.',
    body: Type.Object({
      variants: FreeObjectInput(64 * kibibyte, 'Variant key → percentage, for every variant.', {
        control: 50,
        test: 50,
      }),
      ...preconditions,
    }),
    responses: { 200: Result },
  }),
  setPayload: route.post(`${flag}/set_payload`, {
    operationId: 'setFeatureFlagPayload',
    summary: 'Set or remove (`null`) the payload of a variant, or of `true`',
    description: 'The other payloads stay as they are.',
    body: Type.Object({
      variant: Type.Optional(TextInput(400, 'Variant key; `true` without variants.')),
      payload: FreeValueInput(mebibyte, 'Any JSON; `null` removes the payload.', { color: 'blue' }),
      ...preconditions,
    }),
    responses: { 200: Result },
  }),
}
