import { bucketingAlgorithmNames, operators, strictOperators } from '@halyard/engine'
import Type from 'typebox'
import { Bool, Integer, List, NamedObject, Nullable, Numeric, shapeKeyword, Text, TextInput } from '../schema.ts'

/**
 * The documented shapes of definitions. The engine validates them, so that an error names the path, and keys that it does not know
 * are stored as they are.
 */

export const propertyOperators = [...operators, ...strictOperators] as const

/** Aliases, and the operators of cohort and flag filters. */
const otherOperators = ['min', 'max', 'in', 'not_in', 'flag_evaluates_to'] as const

const groupTypeIndex = (description: string) =>
  Type.Optional(Nullable(Type.Integer({ minimum: 0, maximum: 4, description, examples: [null] })))

export const PropertyFilter = NamedObject(
  'PropertyFilter',
  'Compares one property of a person or group, a cohort or another flag.',
  {
    key: Text('Name of the property; the id of the flag for `type: flag`.', 'plan'),
    type: Type.Optional(
      Type.String({
        enum: ['person', 'person_metadata', 'group', 'cohort', 'flag'],
        description: 'Where the value comes from; `person` by default. `person_metadata` has the key `created_at`.',
        examples: ['person'],
      }),
    ),
    operator: Type.Optional(
      Nullable(
        Type.String({
          enum: [...propertyOperators, ...otherOperators],
          description:
            'How to compare; `exact` by default. `in` and `not_in` are for cohorts, `flag_evaluates_to` for flags.',
          examples: ['exact'],
        }),
      ),
    ),
    value: Type.Optional(
      Type.Unknown({
        description: 'What to compare with: text, a number, a list, the id of a cohort, or the value of a flag.',
        examples: ['pro'],
      }),
    ),
    group_type_index: groupTypeIndex('Index of the group type, for `type: group`.'),
    negation: Type.Optional(Nullable(Bool('In cohorts: whether to invert the result. No effect in flags.', false))),
    inverted: Type.Optional(
      Nullable(Bool('In flags: whether the filter matches exactly those that it would not match otherwise.', false)),
    ),
    ignore_case: Type.Optional(
      Nullable(Bool('Whether `text_…` and `list_contains_…` ignore case; `false` by default.', false)),
    ),
    same_type: Type.Optional(
      Nullable(Bool('Whether `text_…` matches only text and `number_…` only numbers; `false` by default.', false)),
    ),
    any_item: Type.Optional(
      Nullable(
        Bool(
          'Whether a list matches when any of its items does, for `text_…`, `number_…`, `version_…`, `date_after`, `date_before`, `json_one_of` and `ip_in_cidr`; `false` by default.',
          false,
        ),
      ),
    ),
    partial_versions: Type.Optional(
      Nullable(
        Bool(
          'Whether `version_…` also reads versions such as `1.2`, which is 1.2.0, and none with a leading `v`; `false` by default.',
          false,
        ),
      ),
    ),
  },
)

export const Bucketing = NamedObject('Bucketing', 'Assigns people to rollouts and variants as another service does.', {
  algorithm: Type.String({
    enum: [...bucketingAlgorithmNames],
    description: 'The service whose hash and arithmetic are used.',
    examples: ['unleash'],
  }),
  seed: Type.Optional(
    TextInput(1000, 'What is hashed beside the identifier, such as the key of the flag in that service.', 'checkout'),
  ),
  by: Type.Optional(
    Nullable(
      Type.String({
        minLength: 1,
        description: 'Property that is hashed; null means the identifier of the flag.',
        examples: [null],
      }),
    ),
  ),
  identifier_prefix: Type.Optional(
    TextInput(
      1000,
      'What is hashed directly before the identifier, such as the key of the environment in Flagsmith.',
      '',
    ),
  ),
  encoding: Type.Optional(
    Type.String({
      enum: ['utf-8', 'utf-16', 'latin-1'],
      description: 'How text that is not ASCII is hashed; `utf-8` by default.',
      examples: ['utf-8'],
    }),
  ),
})

const Split = NamedObject(
  'Split',
  'Distributes the people in this condition among variants. People in no range go to the next condition.',
  {
    variants: Type.Array(
      NamedObject('SplitVariant', 'A part of a split: a variant with a weight or a range.', {
        variant: Type.Optional(Nullable(Text('Key of a variant of the flag.', 'control'))),
        value: Type.Optional(
          Nullable(Bool('Value of the flag instead of a variant: `true` for on, `false` for off.', null)),
        ),
        weight: Type.Optional(
          Type.Number({ minimum: 0, description: 'In proportion to the other weights.', examples: [50] }),
        ),
        range: Type.Optional(
          Type.Array(Type.Number({ minimum: 0, maximum: 1 }), {
            minItems: 2,
            maxItems: 2,
            description: 'Positions from 0 to 1 instead of a weight, the end excluded.',
          }),
        ),
      }),
      { minItems: 1, description: 'The parts, in the order of their buckets.' },
    ),
    bucketing: Type.Optional(Nullable(Bucketing)),
  },
)

export const Condition = NamedObject('Condition', 'A release condition: property filters and a rollout percentage.', {
  properties: Type.Optional(Nullable(List(PropertyFilter, 'All of these must match. Empty: everyone matches.'))),
  rollout_percentage: Type.Optional(
    Nullable(
      Type.Number({
        minimum: 0,
        maximum: 100,
        description: 'Percentage of the matching subjects; null means 100.',
        examples: [100],
      }),
    ),
  ),
  variant: Type.Optional(Nullable(Text('Key of the variant that everyone in this condition gets.', null))),
  value: Type.Optional(
    Nullable(
      Type.Literal(false, {
        description: 'With `false`, the flag is off for the people in this condition.',
        examples: [null],
      }),
    ),
  ),
  aggregation_group_type_index: groupTypeIndex('Buckets this condition by another entity than the flag.'),
  bucketing: Type.Optional(Nullable(Bucketing)),
  split: Type.Optional(Nullable(Split)),
})

export const Variant = NamedObject('Variant', 'A value of a multivariate flag.', {
  key: Text('Value of the flag for this variant.', 'control'),
  name: Type.Optional(Nullable(Text('Description of the variant.'))),
  rollout_percentage: Type.Number({
    minimum: 0,
    maximum: 100,
    description: 'Percentage of the subjects who get this variant. All variants add up to 100.',
    examples: [50],
  }),
})

const Holdout = NamedObject('Holdout', 'Subjects who never get the flag.', {
  id: Type.Optional(
    Nullable(
      Type.Union([Type.Integer(), Type.String()], { description: 'Id of the holdout; part of its variant key.' }),
    ),
  ),
  exclusion_percentage: Type.Optional(
    Nullable(Type.Number({ minimum: 0, maximum: 100, description: 'Percentage of subjects who never get the flag.' })),
  ),
})

const Multivariate = NamedObject('Multivariate', 'Turns a flag into one with several values.', {
  variants: Type.Optional(Nullable(List(Variant, 'Variants, in the order of their buckets.'))),
})

export const Filters = NamedObject(
  'Filters',
  'Who gets the flag and with which value. Unknown keys are stored and have no effect.',
  {
    groups: Type.Optional(
      Nullable(
        List(Condition, 'Release conditions. The first one that matches decides. Empty: the flag is off for everyone.'),
      ),
    ),
    multivariate: Type.Optional(Nullable(Multivariate)),
    payloads: Type.Optional(
      Nullable(
        Type.Record(Type.String(), Type.Unknown(), {
          description: 'Variant key, or `true` for a flag without variants → JSON, as text or as a value.',
        }),
      ),
    ),
    aggregation_group_type_index: groupTypeIndex('Buckets by this group type instead of by person.'),
    super_groups: Type.Optional(Nullable(List(Condition, 'A condition that decides before all others.'))),
    feature_enrollment: Type.Optional(
      Nullable(Bool('Early access: the person property `$feature_enrollment/<key>` decides first.')),
    ),
    holdout: Type.Optional(Nullable(Holdout)),
    early_exit: Type.Optional(
      Nullable(Bool('Stops at the first condition whose properties match, even if its rollout excludes the subject.')),
    ),
    bucketing: Type.Optional(Nullable(Bucketing)),
    return_type: Type.Optional(
      Nullable(
        Type.String({
          enum: ['boolean', 'string', 'number', 'object'],
          description:
            'Type of the value for OpenFeature. By default boolean, or string with variants; any other type is that of the payloads.',
        }),
      ),
    ),
    default_value: Type.Optional(
      Type.Unknown({
        description:
          'Default for the code of applications, of the return type; part of the manifest and of generated types.',
      }),
    ),
  },
  { groups: [{ properties: [], rollout_percentage: 100 }] },
)

const BehavioralFilter = NamedObject('BehavioralFilter', 'How often a person performed an event in the last days.', {
  type: Type.Literal('behavioral', { description: 'A filter on what the person did.' }),
  value: Type.String({
    enum: ['performed_event', 'performed_event_multiple', 'performed_event_first_time'],
    description: 'Whether the event was performed, how often, or for the first time, in the window.',
    examples: ['performed_event_multiple'],
  }),
  key: TextInput(200, 'Name of the event.', 'paid'),
  event_type: Type.Optional(Type.Literal('events', { description: 'Actions are not supported.' })),
  time_value: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Length of the window: 1 to 366 days in all.', examples: [30] }),
  ),
  time_interval: Type.Optional(
    Type.String({
      enum: ['day', 'week', 'month', 'year'],
      description: 'Unit of `time_value`: 1, 7, 30 or 365 calendar days in UTC, today included.',
      examples: ['day'],
    }),
  ),
  explicit_datetime: Type.Optional(Nullable(Text('The window as one text, instead of the two.', '-30d'))),
  operator: Type.Optional(
    Type.String({
      enum: ['gte', 'gt', 'lte', 'lt', 'exact'],
      description: 'How the number of events is compared, for `performed_event_multiple`.',
      examples: ['gte'],
    }),
  ),
  operator_value: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description: 'What the number is compared with. People without an event have 0.',
      examples: [3],
    }),
  ),
  negation: Type.Optional(Nullable(Bool('Whether to match who did not.', false))),
})

const CohortFilterGroup = NamedObject(
  'CohortFilterGroup',
  'Property filters, combined.',
  {
    type: Type.String({ enum: ['AND', 'OR'], description: 'Whether all or any of the values must match.' }),
    values: List(
      Type.Union([Type.Ref('CohortFilterGroup'), PropertyFilter, BehavioralFilter], {
        description: 'Either nested groups or filters, not both.',
      }),
      'Members of the group.',
    ),
  },
  { type: 'AND', values: [{ key: 'plan', type: 'person', operator: 'exact', value: 'beta' }] },
)

export const CohortFilters = NamedObject(
  'CohortFilters',
  'Who is in a dynamic cohort; empty for a static one.',
  { properties: Type.Optional(Nullable(CohortFilterGroup)) },
  {
    properties: {
      type: 'OR',
      values: [{ type: 'AND', values: [{ key: 'plan', type: 'person', operator: 'exact', value: 'beta' }] }],
    },
  },
)

const RollbackMetric = NamedObject('RollbackMetric', 'What a rollback condition measures.', {
  event: Type.Optional(Text('Name of the event to count.', 'checkout failed')),
  name: Type.Optional(Text('Name of a pushed metric, instead of `event`.')),
  math: Type.Optional(
    Type.String({
      enum: ['count', 'rate', 'average', 'sum', 'minimum', 'maximum'],
      description: 'How values are aggregated: `count` or `rate` of events; all but `rate` for a pushed metric.',
    }),
  ),
  per: Type.Optional(Text('Event whose number the rate is relative to.')),
  properties: Type.Optional(List(PropertyFilter, 'Only events with these properties.')),
  only_flagged: Type.Optional(Bool('Only events that carry the flag as on.')),
})

const RollbackCondition = NamedObject('RollbackCondition', 'A metric over a window, compared with a threshold.', {
  metric: Type.Union([RollbackMetric, Type.String()], {
    description: 'The metric, or the name of a pushed metric.',
  }),
  operator: Type.String({
    enum: ['gt', 'gte', 'lt', 'lte', '>', '>=', '<', '<='],
    description: 'How the metric is compared with the threshold.',
  }),
  threshold: Numeric('Value that the metric is compared with.', 10),
  window_minutes: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 10_080,
      description: 'Length of the window; 60 by default.',
      examples: [15],
    }),
  ),
  minimum_samples: Type.Optional(
    Type.Integer({ minimum: 0, description: 'With fewer samples the condition does not hold; 1 by default.' }),
  ),
})

/** A condition that cannot be parsed is stored and never triggers, so that anything else is allowed as well. */
export const RollbackConditions = NamedObject(
  'RollbackConditions',
  'When the flag is switched off automatically; empty for never.',
  {
    conditions: Type.Optional(
      Type.Unknown({
        [shapeKeyword]: List(
          Type.Union([RollbackCondition, Type.Unknown()]),
          'The flag is switched off when one of them holds.',
        ),
      }),
    ),
  },
)

export const FlagDefinition = NamedObject('FlagDefinition', 'A flag as SDKs evaluate it locally.', {
  id: Integer('Id of the flag.', 12),
  team_id: Integer('Project id.', 1),
  name: Text('Description of the flag.', 'The checkout with one page'),
  key: Text('Key of the flag.', 'new-checkout'),
  filters: Filters,
  deleted: Bool('Always false.', false),
  active: Bool('Whether the flag is switched on.', true),
  ensure_experience_continuity: Bool('Whether SDKs must evaluate the flag remotely.', false),
  has_encrypted_payloads: Bool('Always false.', false),
  version: Integer('Version of the flag.', 1),
  evaluation_runtime: Type.String({ enum: ['server', 'client', 'all'], description: 'Which SDKs use the flag.' }),
  evaluation_contexts: List(Type.String(), 'Contexts of the flag.', []),
  bucketing_identifier: Nullable(
    Type.String({ enum: ['distinct_id', 'device_id'], description: 'Id that decides the bucket.' }),
  ),
  has_experiment: Bool('Always false.', false),
})
