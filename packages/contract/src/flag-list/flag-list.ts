import Type, { type Static } from 'typebox'
import { Check } from '../flags/flag-details.ts'
import { Page, pageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import { Instant, Nullable, ProjectParams } from '../schema.ts'

const Creator = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the user.', examples: [1] }),
    first_name: Type.String({ description: 'First name of the user.', examples: ['Ada'] }),
    email: Type.String({ description: 'Email address of the user.', examples: ['ada@example.com'] }),
  },
  { title: 'FlagCreator', description: 'The user who created a flag.' },
)

const Coverage = Type.Object(
  {
    kind: Type.String({
      enum: ['no_one', 'everyone', 'rollout', 'conditions'],
      description: 'Who is included while the flag is on; `rollout` is a percentage without conditions.',
      examples: ['everyone'],
    }),
    conditions: Type.Integer({ description: 'Number of conditions with a rollout above 0.', examples: [1] }),
    from: Type.Number({ description: 'Smallest rollout percentage of these conditions.', examples: [100] }),
    to: Type.Number({ description: 'Largest rollout percentage of these conditions.', examples: [100] }),
  },
  { title: 'FlagCoverage', description: 'The conditions of a flag in short.' },
)

export const FlagSummary = Type.Object(
  {
    id: Type.Integer({ description: 'Unique id of the flag.', examples: [12] }),
    key: Type.String({ description: 'Key of the flag.', examples: ['new-checkout'] }),
    name: Type.String({ description: 'The description of the flag.', examples: ['The checkout with one page'] }),
    active: Type.Boolean({ description: 'Whether the flag is switched on.', examples: [true] }),
    deleted: Type.Boolean({ description: 'Whether the flag is soft-deleted.', examples: [false] }),
    archived: Type.Boolean({ description: 'Whether the flag is archived.', examples: [false] }),
    performed_rollback: Type.Boolean({
      description: 'Whether a rollback condition has switched the flag off.',
      examples: [false],
    }),
    tags: Type.Array(Type.Unknown(), { description: 'Tags, usually strings.', examples: [['checkout']] }),
    created_by: Creator,
    created_at: Instant('When the flag was created.'),
    updated_at: Instant('When the flag was last changed.'),
    can_edit: Type.Boolean({ description: 'Whether the caller can edit the flag.', examples: [true] }),
    version: Type.Integer({ description: 'Incremented by each change.', examples: [1] }),
    coverage: Coverage,
    variant_count: Type.Integer({ description: 'Number of variants.', examples: [0] }),
    group_type_index: Nullable(
      Type.Integer({ description: 'Index of the group type for which the flag is decided.', examples: [null] }),
    ),
  },
  { title: 'FlagSummary', description: 'A flag without its definition.' },
)
export type FlagSummary = Static<typeof FlagSummary>

/** Days of a sparkline, today included. */
export const flagUsageDays = 14
/** Flags per request for their usage. */
export const flagUsageIdsMax = 200

const FlagUsage = Type.Object(
  {
    id: Type.Integer({ description: 'Id of the flag.', examples: [12] }),
    last_called_at: Nullable(Instant('When the flag was last evaluated; null if never.')),
    calls: Type.Array(Type.Integer(), {
      description: `Evaluations per day (UTC) of the last ${flagUsageDays} days, oldest first; today is partial.`,
      examples: [[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 5, 2]],
    }),
    checks: Type.Array(Check, { description: 'Health checks that the flag does not pass.', examples: [['stale']] }),
  },
  { title: 'FlagUsage', description: 'How often a flag was evaluated lately, and whether it needs attention.' },
)

const TagCount = Type.Object(
  {
    name: Type.String({ description: 'The tag.', examples: ['checkout'] }),
    flag_count: Type.Integer({ description: 'Number of flags with it.', examples: [3] }),
    editable_count: Type.Integer({ description: 'How many of these the caller can edit.', examples: [3] }),
  },
  { title: 'FlagTag', description: 'A tag and how many flags have it.' },
)

export const tagCharactersMax = 255

const route = routesOf('Flag list')
const flags = '/api/projects/:project_id/feature_flags' as const

export const flagListRoutes = {
  list: route({
    method: 'GET',
    path: `${flags}/summaries`,
    operationId: 'listFeatureFlagSummaries',
    summary: 'List the flags of the project without their definitions',
    description:
      'For long lists: the same flags as the list of flags, in a fraction of its size. Filters can be combined.',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      ...pageQuery,
      search: Type.Optional(
        Type.String({ description: 'Words; each must occur in the key, the description or a tag.' }),
      ),
      letters: Type.Optional(
        Type.String({
          description: 'Letters that occur in this order in the key or the description: `chk` finds `checkout`.',
        }),
      ),
      active: Type.Optional(
        Type.String({ enum: ['true', 'false', 'STALE'], description: 'Only active, inactive or stale flags.' }),
      ),
      type: Type.Optional(Type.String({ enum: ['boolean', 'multivariant'], description: 'Only flags of this type.' })),
      created_by_id: Type.Optional(Type.Integer({ description: 'Only flags created by the user with this id.' })),
      tags: Type.Optional(Type.String({ description: 'JSON array of tags; matches flags with any of them.' })),
      order: Type.Optional(
        Type.String({ description: 'Field name, or `last_called_at`; prefix `-` for descending order.' }),
      ),
      deleted: Type.Optional(Type.Boolean({ description: '`true` lists the deleted flags instead.' })),
      archived: Type.Optional(Type.Boolean({ description: '`true` lists the archived flags instead.' })),
      favorite: Type.Optional(Type.Boolean({ description: '`true` lists only favorites of the caller.' })),
    }),
    responses: { 200: Page(FlagSummary) },
  }),
  usage: route({
    method: 'GET',
    path: `${flags}/recent_usage`,
    operationId: 'listFeatureFlagUsage',
    summary: 'Get the last evaluation, the daily evaluations and the failed health checks of flags',
    description: 'Ids that do not exist in the project are left out.',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    query: Type.Object({
      ids: Type.String({
        description: `Flag ids, separated by commas; at most ${flagUsageIdsMax}.`,
        examples: ['12,13'],
      }),
    }),
    responses: { 200: Type.Array(FlagUsage) },
  }),
  facets: route({
    method: 'GET',
    path: `${flags}/facets`,
    operationId: 'listFeatureFlagFacets',
    summary: 'List the tags and the creators of the flags',
    description: 'What the list can be filtered by. Deleted and archived flags do not count.',
    access: inProject('feature_flag:read'),
    params: ProjectParams,
    responses: {
      200: Type.Object(
        {
          tags: Type.Array(TagCount, { description: 'Tags by name, at most 1000.' }),
          creators: Type.Array(Creator, { description: 'Users who created a flag, by name, at most 1000.' }),
        },
        { title: 'FlagFacets', description: 'What flags can be filtered by.' },
      ),
    },
  }),
  replaceTag: route({
    method: 'POST',
    path: `${flags}/replace_tag`,
    operationId: 'replaceFeatureFlagTag',
    summary: 'Rename, merge or remove a tag on all flags',
    description:
      'Changes at most 500 flags in one transaction; repeat while `remaining` is above the number of `errors`. A name that other flags have already merges both tags.',
    access: inProject('feature_flag:write'),
    params: ProjectParams,
    body: Type.Object(
      {
        tag: Type.String({
          minLength: 1,
          maxLength: tagCharactersMax,
          description: 'The tag as it is now.',
          examples: ['chekout'],
        }),
        replacement: Nullable(
          Type.String({
            minLength: 1,
            maxLength: tagCharactersMax,
            description: 'The tag to set instead; null removes the tag.',
            examples: ['checkout'],
          }),
        ),
      },
      { title: 'TagReplacement', description: 'A tag and what replaces it.' },
    ),
    mayConflict: true,
    responses: {
      200: Type.Object(
        {
          updated: Type.Integer({ description: 'Number of flags that were changed.', examples: [3] }),
          remaining: Type.Integer({ description: 'Number of flags that still have the tag.', examples: [0] }),
          errors: Type.Array(
            Type.Object({
              id: Type.Integer({ description: 'Id of the flag.', examples: [13] }),
              key: Type.Optional(Type.String({ description: 'Key of the flag.', examples: ['pricing-test'] })),
              reason: Type.String({
                description: 'Why the flag was not changed.',
                examples: ['You cannot edit this flag.'],
              }),
            }),
            { description: 'Flags that were not changed.', examples: [[]] },
          ),
        },
        { title: 'TagReplaced', description: 'What replacing a tag has changed.' },
      ),
    },
  }),
}
