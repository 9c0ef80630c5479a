import Type from 'typebox'
import { flagKeyCharactersMax } from './flags.ts'
import { inOrganization, route } from './route.ts'
import { OrganizationParams } from './schema.ts'

/** At most this many projects get a copy at once. */
export const copyTargetsMax = 50

const tag = 'Flags of an organization'
const flags = '/api/organizations/:parent_lookup_organization_id/feature_flags' as const
const prefer = 'With `Prefer: return=representation` there is a body, and `Preference-Applied` says so.'

/** Contract 4.1: the status is the answer. */
export const organizationFlagRoutes = {
  byKey: route({
    method: 'GET',
    path: `${flags}/:feature_flag_key`,
    tag,
    summary: `Whether a live flag with this key exists in a project that the caller can see. ${prefer}`,
    access: inOrganization('feature_flag:read'),
    params: Type.Object({ ...OrganizationParams.properties, feature_flag_key: Type.String() }),
    answers: { 200: null },
  }),
  copy: route({
    method: 'POST',
    path: `${flags}/copy_flags`,
    tag,
    summary: `Copy a flag, with the cohorts it needs, into other projects: into all of them or none. ${prefer}`,
    access: inOrganization('feature_flag:write'),
    params: OrganizationParams,
    body: Type.Object({
      feature_flag_key: Type.String({ minLength: 1, maxLength: flagKeyCharactersMax }),
      from_project: Type.Integer(),
      target_project_ids: Type.Array(Type.Integer(), {
        minItems: 1,
        maxItems: copyTargetsMax,
        description: `Project ids, at most ${copyTargetsMax}.`,
      }),
      disable_copied_flag: Type.Optional(Type.Boolean({ description: 'Whether the copies start switched off.' })),
    }),
    answers: { 200: null },
  }),
}
