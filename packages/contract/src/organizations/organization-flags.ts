import Type from 'typebox'
import { type Flag, flagKeyCharactersMax } from '../flags/flags.ts'
import { inOrganization, routesOf } from '../route.ts'
import { Bool, Integer, NonEmptyTextInput, OrganizationParams, Text } from '../schema.ts'

/** Maximum number of target projects per request. */
export const copyTargetsMax = 50

/** What copying a flag did in one project: enough to undo it. */
export interface CopiedFlag {
  readonly project_id: number
  readonly flag_id: number
  readonly version: number
  /** The version that the copy replaced; null when the flag was created. */
  readonly replaced_version: number | null
  /** The payload schema that the copy replaced, null when there was none; absent when the copy did not change it. */
  readonly replaced_payload_schema?: Readonly<Record<string, unknown>> | null
  /** The cohorts that were created for the copy, each after those it needs. */
  readonly created_cohort_ids: readonly number[]
}

/** The body of `copy` with `Prefer: return=representation`: PostHog's fields, and `copies` by project id. */
export interface FlagCopies {
  readonly success: readonly Flag[]
  readonly failed: readonly unknown[]
  readonly copies: readonly CopiedFlag[]
}

const route = routesOf('Flags of an organization')
const flags = '/api/organizations/:parent_lookup_organization_id/feature_flags' as const
const prefer = '`Prefer: return=representation` returns a body and `Preference-Applied`.'

/** Contract 4.1: the status code is the result. */
export const organizationFlagRoutes = {
  byKey: route.get(`${flags}/:feature_flag_key`, {
    operationId: 'findOrganizationFeatureFlag',
    summary: `Check whether a flag with this key exists in a project of the caller. ${prefer}`,
    description:
      'Returns 200 without a body if a flag with this key exists, otherwise 404. With `Prefer: return=representation` the body lists the flags by project.',
    access: inOrganization('feature_flag:read'),
    params: Type.Object({
      ...OrganizationParams.properties,
      feature_flag_key: Text('Key of the flag.', 'new-checkout'),
    }),
    responses: { 200: null },
  }),
  copy: route.post(`${flags}/copy_flags`, {
    operationId: 'copyFeatureFlag',
    summary: `Copy a flag and the cohorts it uses to other projects, all or nothing. ${prefer}`,
    description:
      'Copies the flag with the cohorts and flags it depends on. An existing flag with the same key in a target project is overwritten. Either every target project is changed or none. With `Prefer: return=representation` the body has the flags as `success` and, per target project, as `copies`: `project_id`, `flag_id`, `version`, `replaced_version` (null for a new flag), `replaced_payload_schema` (absent when unchanged) and `created_cohort_ids`.',
    access: inOrganization('feature_flag:write'),
    params: OrganizationParams,
    body: Type.Object({
      feature_flag_key: NonEmptyTextInput(flagKeyCharactersMax, 'Key of the flag to copy.', 'new-checkout'),
      from_project: Integer('Id of the project to copy from.', 1),
      target_project_ids: Type.Array(Type.Integer(), {
        minItems: 1,
        maxItems: copyTargetsMax,
        description: `Project ids, at most ${copyTargetsMax}.`,
        examples: [[2]],
      }),
      disable_copied_flag: Type.Optional(Bool('Whether the copies are created inactive.', true)),
    }),
    mayConflict: true,
    responses: { 200: null },
  }),
}
