import Type, { type Static } from 'typebox'
import { Check } from '../flags/flag-details.ts'
import { Page, pageQuery } from '../page.ts'
import { inProject, routesOf } from '../route.ts'
import {
  Bool,
  Instant,
  Integer,
  List,
  NamedObject,
  NonEmptyTextInput,
  Nullable,
  Numeric,
  ProjectParams,
  Text,
} from '../schema.ts'

const Creator = NamedObject('FlagCreator', 'The user who created a flag.', {
  id: Integer('Id of the user.', 1),
  first_name: Text('First name of the user.', 'Ada'),
  email: Text('Email address of the user.', 'ada@example.com'),
})

const Coverage = NamedObject('FlagCoverage', 'The conditions of a flag in short.', {
  kind: Type.String({
    enum: ['no_one', 'everyone', 'rollout', 'conditions'],
    description: 'Who is included while the flag is on; `rollout` is a percentage without conditions.',
    examples: ['everyone'],
  }),
  conditions: Integer('Number of conditions with a rollout above 0.', 1),
  from: Numeric('Smallest rollout percentage of these conditions.', 100),
  to: Numeric('Largest rollout percentage of these conditions.', 100),
})

export const FlagSummary = NamedObject('FlagSummary', 'A flag without its definition.', {
  id: Integer('Unique id of the flag.', 12),
  key: Text('Key of the flag.', 'new-checkout'),
  name: Text('The description of the flag.', 'The checkout with one page'),
  active: Bool('Whether the flag is switched on.', true),
  deleted: Bool('Whether the flag is soft-deleted.', false),
  archived: Bool('Whether the flag is archived.', false),
  performed_rollback: Bool('Whether a rollback condition has switched the flag off.', false),
  tags: List(Type.Unknown(), 'Tags, usually strings.', ['checkout']),
  created_by: Creator,
  created_at: Instant('When the flag was created.'),
  updated_at: Instant('When the flag was last changed.'),
  can_edit: Bool('Whether the caller can edit the flag.', true),
  version: Integer('Incremented by each change.', 1),
  coverage: Coverage,
  variant_count: Integer('Number of variants.', 0),
  group_type_index: Nullable(Integer('Index of the group type for which the flag is decided.', null)),
})
export type FlagSummary = Static<typeof FlagSummary>

/** Days of a sparkline, today included. */
export const flagUsageDays = 14
/** Flags per request for their usage. */
export const flagUsageIdsMax = 200

const FlagUsage = NamedObject('FlagUsage', 'How often a flag was evaluated lately, and whether it needs attention.', {
  id: Integer('Id of the flag.', 12),
  last_called_at: Nullable(Instant('When the flag was last evaluated; null if never.')),
  calls: List(
    Type.Integer(),
    `Evaluations per day (UTC) of the last ${flagUsageDays} days, oldest first; today is partial.`,
    [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 5, 2],
  ),
  checks: List(Check, 'Health checks that the flag does not pass.', ['stale']),
})

const TagCount = NamedObject('FlagTag', 'A tag and how many flags have it.', {
  name: Text('The tag.', 'checkout'),
  flag_count: Integer('Number of flags with it.', 3),
  editable_count: Integer('How many of these the caller can edit.', 3),
})

export const tagCharactersMax = 255

const flags = '/api/projects/:project_id/feature_flags' as const

const route = routesOf('Flag list', { params: ProjectParams })

export const flagListRoutes = {
  list: route.get(`${flags}/summaries`, {
    operationId: 'listFeatureFlagSummaries',
    summary: 'List the flags of the project without their definitions',
    description:
      'For long lists: the same flags as the list of flags, in a fraction of its size. Filters can be combined.',
    access: inProject('feature_flag:read'),
    query: Type.Object({
      ...pageQuery,
      search: Type.Optional(Text('Words; each must occur in the key, the description or a tag.')),
      letters: Type.Optional(
        Text('Letters that occur in this order in the key or the description: `chk` finds `checkout`.'),
      ),
      active: Type.Optional(
        Type.String({ enum: ['true', 'false', 'STALE'], description: 'Only active, inactive or stale flags.' }),
      ),
      type: Type.Optional(Type.String({ enum: ['boolean', 'multivariant'], description: 'Only flags of this type.' })),
      created_by_id: Type.Optional(Integer('Only flags created by the user with this id.')),
      tags: Type.Optional(Text('JSON array of tags; matches flags with any of them.')),
      order: Type.Optional(Text('Field name, or `last_called_at`; prefix `-` for descending order.')),
      deleted: Type.Optional(Bool('`true` lists the deleted flags instead.')),
      archived: Type.Optional(Bool('`true` lists the archived flags instead.')),
      favorite: Type.Optional(Bool('`true` lists only favorites of the caller.')),
    }),
    responses: { 200: Page(FlagSummary) },
  }),
  usage: route.get(`${flags}/recent_usage`, {
    operationId: 'listFeatureFlagUsage',
    summary: 'Get the last evaluation, the daily evaluations and the failed health checks of flags',
    description: 'Ids that do not exist in the project are left out.',
    access: inProject('feature_flag:read'),
    query: Type.Object({
      ids: Text(`Flag ids, separated by commas; at most ${flagUsageIdsMax}.`, '12,13'),
    }),
    responses: { 200: Type.Array(FlagUsage) },
  }),
  facets: route.get(`${flags}/facets`, {
    operationId: 'listFeatureFlagFacets',
    summary: 'List the tags and the creators of the flags',
    description: 'What the list can be filtered by. Deleted and archived flags do not count.',
    access: inProject('feature_flag:read'),
    responses: {
      200: NamedObject('FlagFacets', 'What flags can be filtered by.', {
        tags: List(TagCount, 'Tags by name, at most 1000.'),
        creators: List(Creator, 'Users who created a flag, by name, at most 1000.'),
      }),
    },
  }),
  replaceTag: route.post(`${flags}/replace_tag`, {
    operationId: 'replaceFeatureFlagTag',
    summary: 'Rename, merge or remove a tag on all flags',
    description:
      'Changes at most 500 flags in one transaction; repeat while `remaining` is above the number of `errors`. A name that other flags have already merges both tags.',
    access: inProject('feature_flag:write'),
    body: NamedObject('TagReplacement', 'A tag and what replaces it.', {
      tag: NonEmptyTextInput(tagCharactersMax, 'The tag as it is now.', 'chekout'),
      replacement: Nullable(
        NonEmptyTextInput(tagCharactersMax, 'The tag to set instead; null removes the tag.', 'checkout'),
      ),
    }),
    mayConflict: true,
    responses: {
      200: NamedObject('TagReplaced', 'What replacing a tag has changed.', {
        updated: Integer('Number of flags that were changed.', 3),
        remaining: Integer('Number of flags that still have the tag.', 0),
        errors: List(
          Type.Object({
            id: Integer('Id of the flag.', 13),
            key: Type.Optional(Text('Key of the flag.', 'pricing-test')),
            reason: Text('Why the flag was not changed.', 'You cannot edit this flag.'),
          }),
          'Flags that were not changed.',
          [],
        ),
      }),
    },
  }),
}
