import Type, { type Static } from 'typebox'
import { inProject, routesOf } from '../route.ts'
import { FreeObjectInput, Instant, kibibyte, List, NamedObject, ProjectParams, Text } from '../schema.ts'

export const overriddenFlagsMax = 20
/** With its signature the token still fits into a link and a header. */
const overridesBytesMax = 2 * kibibyte
const secondsMin = 60
const secondsMax = 7 * 24 * 60 * 60
export const overridesSecondsDefault = 24 * 60 * 60

const example = { 'new-checkout': true, 'pricing-test': 'large-button', 'page-size': { value: true, payload: 50 } }

export const SignedFlagOverrides = NamedObject(
  'SignedFlagOverrides',
  'Values of flags for everyone who has the token.',
  {
    token: Text(
      'What a browser sends as `X-Halyard-Overrides`. It is readable and cannot be changed.',
      'ho1.eyJvIjp7Im5ldy1jaGVja291dCI6dHJ1ZX0sImUiOjE3NzI0NTI4MDB9.kq3n…',
    ),
    expires_at: Instant('When it stops being accepted.'),
  },
)
export type SignedFlagOverrides = Static<typeof SignedFlagOverrides>

const FlagVariants = NamedObject('FlagVariants', 'The values that a flag can be overridden with.', {
  key: Text('Key of the flag.', 'pricing-test'),
  variants: List(Type.String(), 'Keys of its variants; empty for a flag that is on or off.', [
    'control',
    'large-button',
  ]),
})

const route = routesOf('Flag overrides')

export const flagOverrideRoutes = {
  variants: route.get('/api/projects/:project_id/flag_overrides/variants', {
    operationId: 'listOverrideVariants',
    summary: 'List the variants that flags can be overridden with',
    description:
      'For tools that let a developer choose. Flags that do not exist, are archived or that you cannot edit are left out.',
    access: inProject('feature_flag:write', 'flag_override:write'),
    isForBrowsers: true,
    params: ProjectParams,
    query: Type.Object({
      keys: Text('Up to 20 keys of flags, separated by commas.', 'new-checkout,pricing-test'),
    }),
    responses: {
      200: Type.Object({ results: List(FlagVariants, 'In the order of the keys.') }),
    },
  }),
  sign: route.post('/api/projects/:project_id/flag_overrides', {
    operationId: 'signFlagOverrides',
    summary: 'Sign values of flags for development',
    description:
      'An evaluation that carries the token as `X-Halyard-Overrides` gets these values, with the reason `override`. Stores nothing. You must be able to edit each of the flags. Up to 20 flags and 2 KiB.',
    access: inProject('feature_flag:write', 'flag_override:write'),
    isForBrowsers: true,
    params: ProjectParams,
    body: Type.Object({
      overrides: FreeObjectInput(
        overridesBytesMax,
        'By flag key: true, false, a variant, or an object with `value` and `payload`.',
        example,
      ),
      expires_in_seconds: Type.Optional(
        Type.Integer({
          minimum: secondsMin,
          maximum: secondsMax,
          description: 'From a minute to a week; default: a day.',
          examples: [3600],
        }),
      ),
    }),
    responses: { 201: SignedFlagOverrides },
  }),
}
