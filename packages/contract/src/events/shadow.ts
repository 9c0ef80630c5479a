import Type, { type Static } from 'typebox'
import { FlagParams, flagKeyCharactersMax } from '../flags/flags.ts'
import { type Credential, inProject, open, routesOf } from '../route.ts'
import {
  Bool,
  FreeValueInput,
  Instant,
  kibibyte,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  ObjectOf,
  Text,
  TextInput,
} from '../schema.ts'

/** Flags in one report. */
export const shadowFlagsMax = 1000

const count = (description: string) => Type.Integer({ minimum: 0, maximum: 1e9, description, examples: [120] })
const there = FreeValueInput(2 * kibibyte, 'Value of the other service.', true)
const here = FreeValueInput(2 * kibibyte, 'Value of Halyard.', false)
const distinctId = TextInput(400, 'Targeting key for which they differ.', 'user-1')

const ReportedFlag = Type.Object({
  key: NonEmptyTextInput(flagKeyCharactersMax, 'Key of the flag. Unknown keys are skipped.', 'new-checkout'),
  agree: count('Evaluations with the same value.'),
  differ: count('Evaluations with different values.'),
  failed: Type.Optional(count('Evaluations that Halyard failed to make. They are not compared.')),
  example: Type.Optional(
    Nullable(ObjectOf('One of the evaluations that differ.', { there, here, distinct_id: distinctId })),
  ),
})

const ShadowReport = Type.Object({
  batch_id: NonEmptyTextInput(
    100,
    'Unique id of the report, which is counted once, however often it is sent.',
    '0198c1d2-7f3a-7b52-9c1e-5d0f6a7b8c9d',
  ),
  flags: Type.Array(ReportedFlag, { maxItems: shadowFlagsMax, description: 'One entry for each flag.' }),
})
export type ShadowReport = Static<typeof ShadowReport>

export const ShadowSummary = NamedObject(
  'ShadowSummary',
  'How often another service and Halyard had the same value, in the last 90 days.',
  {
    agree: count('Evaluations with the same value.'),
    differ: count('Evaluations with different values.'),
    failed: count('Evaluations that Halyard failed to make. They are not compared.'),
    since: Nullable(Text('First day with comparisons, in UTC.', '2026-03-01')),
    last_difference: Nullable(
      ObjectOf('The newest difference.', {
        at: Instant('When it was reported.'),
        there: Type.Unknown({ description: 'Value of the other service.', examples: [true] }),
        here: Type.Unknown({ description: 'Value of Halyard.', examples: [false] }),
        distinct_id: distinctId,
      }),
    ),
  },
)
export type ShadowSummary = Static<typeof ShadowSummary>

const route = routesOf('Shadow mode')
const secretOrPersonal: readonly Credential[] = ['projectSecretKey', 'personalApiKey']

export const shadowRoutes = {
  report: route.post('/api/shadow_reports', {
    operationId: 'reportShadow',
    isAudited: false,
    summary: 'Report how often another service and Halyard agreed',
    description:
      'The shadow provider of `@halyard/openfeature-server` sends this. The secret key selects the project. A report with a known `batch_id` changes nothing.',
    access: open,
    credentials: secretOrPersonal,
    body: ShadowReport,
    responses: {
      200: NamedObject('ShadowReceipt', 'Whether the report was counted.', {
        counted: Bool('False when the report was known.', true),
      }),
    },
  }),
  get: route.get('/api/projects/:project_id/feature_flags/:id/shadow', {
    operationId: 'getFlagShadow',
    summary: 'Get how often another service and Halyard agreed on a flag',
    description: 'Sums over the last 90 days.',
    access: inProject('feature_flag:read'),
    params: FlagParams,
    responses: { 200: ShadowSummary },
  }),
}
