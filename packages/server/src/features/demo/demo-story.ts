import type { demoTeam } from './demo-content.ts'

type Who = 'owner' | (typeof demoTeam)[number]['name']

interface NewFlag {
  readonly key: string
  readonly [field: string]: unknown
}

/** One change of a flag by a member of the team, this many days ago. */
export interface DemoStep {
  readonly daysAgo: number
  readonly who: Who
  readonly create?: NewFlag
  readonly change?: { readonly key: string; readonly patch: Readonly<Record<string, unknown>> }
}

const person = (key: string, operator: string, value: unknown) => ({ key, type: 'person', operator, value })
const condition = (rollout_percentage: number, ...properties: object[]) => ({ properties, rollout_percentage })
const made = (daysAgo: number, who: Who, create: NewFlag): DemoStep => ({ daysAgo, who, create })
const did = (daysAgo: number, who: Who, key: string, patch: Record<string, unknown>): DemoStep => ({
  daysAgo,
  who,
  change: { key, patch },
})

const pricing = (shares: readonly [number, number, number], countries: readonly string[], discount: number) => ({
  groups: [condition(100, person('country', 'exact', countries))],
  multivariate: {
    variants: [
      { key: 'control', rollout_percentage: shares[0] },
      { key: 'three-plans', rollout_percentage: shares[1] },
      { key: 'yearly-first', rollout_percentage: shares[2] },
    ],
  },
  payloads: { 'yearly-first': `{"discount": ${discount}}` },
})

const staff = condition(100, person('email', 'ends_with', '@acme.example'))
const regulars = (orders: string) => condition(100, person('orders', 'gte', orders))
const appFrom = (version: string) => condition(100, person('app_version', 'semver_gte', version))
/** What the flags refer to. */
interface DemoReferences {
  /** Paying customers. */
  readonly cohortId: number
  /** The index of the group type `company`. */
  readonly companyIndex: number
}

/** Five weeks of a team that rolls things out, from the first day to the last. */
export function demoStory({ cohortId, companyIndex }: DemoReferences): readonly DemoStep[] {
  const byCompany = (share: number) => ({
    groups: [condition(share)],
    aggregation_group_type_index: companyIndex,
  })
  const paying = (share: number) => condition(share, { key: 'id', type: 'cohort', operator: 'in', value: cohortId })
  return [
    made(36, 'owner', {
      key: 'legacy-importer',
      name: 'Old importer, kept until the last store has moved',
      tags: ['platform'],
    }),
    made(33.2, 'Jonas', {
      key: 'dark-mode',
      name: 'Dark colors',
      tags: ['app'],
      filters: { groups: [appFrom('2.6.0')] },
    }),
    made(30.1, 'Mira', {
      key: 'new-checkout',
      name: 'One-page checkout',
      tags: ['checkout'],
      filters: { groups: [staff] },
    }),
    made(27.4, 'owner', {
      key: 'pricing-page-test',
      name: 'Which pricing page sells better?',
      tags: ['growth', 'experiment'],
      filters: pricing([50, 25, 25], ['DE'], 10),
    }),
    did(26.3, 'Jonas', 'dark-mode', { filters: { groups: [appFrom('2.3.0')] }, name: 'Dark colors in the app' }),
    made(23.9, 'Jonas', {
      key: 'search-v2',
      name: 'New search index, by company',
      tags: ['platform'],
      filters: byCompany(5),
    }),
    did(22.2, 'Mira', 'new-checkout', { filters: { groups: [staff, paying(10)] }, tags: ['checkout', 'web'] }),
    did(20.1, 'owner', 'pricing-page-test', { filters: pricing([50, 25, 25], ['DE', 'FR', 'ES'], 10) }),
    made(18.5, 'Mira', {
      key: 'express-delivery',
      name: 'Express delivery for regulars',
      tags: ['checkout'],
      filters: { groups: [regulars('20')] },
    }),
    did(16.3, 'Jonas', 'search-v2', { filters: byCompany(20) }),
    did(15.2, 'Mira', 'new-checkout', { active: false }),
    did(15.1, 'Mira', 'new-checkout', { active: true, filters: { groups: [staff, paying(25)] } }),
    made(13.3, 'owner', {
      key: 'shipping-banner',
      name: 'Banner about the free shipping week',
      tags: ['web'],
      filters: { groups: [condition(100)], payloads: { true: '{"text": "Free shipping until Sunday"}' } },
    }),
    did(12.4, 'Mira', 'express-delivery', { filters: { groups: [regulars('10'), condition(5)] } }),
    did(9.2, 'owner', 'pricing-page-test', { filters: pricing([50, 25, 25], ['DE', 'FR', 'ES'], 20) }),
    did(8.1, 'Jonas', 'search-v2', { filters: byCompany(40) }),
    did(6.4, 'owner', 'shipping-banner', { active: false }),
    did(5.2, 'Mira', 'new-checkout', {
      name: 'One-page checkout: staff first, then paying customers, then everyone',
      filters: { groups: [staff, paying(50)] },
    }),
    made(3.3, 'Jonas', {
      key: 'smart-recommendations',
      name: 'Recommendations by the new model',
      tags: ['growth'],
      filters: { groups: [condition(20)] },
      rollback_conditions: slowAnswers,
    }),
    did(1.2, 'Mira', 'new-checkout', { filters: { groups: [staff, paying(50), condition(10)] } }),
    did(0.2, 'Jonas', 'smart-recommendations', { filters: { groups: [condition(50)] } }),
  ]
}

/** Two samples above the threshold trigger the automatic rollback. */
export const slowAnswersMetric = { name: 'recommendations_ms', value: 930 }
const slowAnswers = {
  conditions: [
    {
      metric: { name: slowAnswersMetric.name, math: 'average' },
      operator: 'gt',
      threshold: 400,
      window_minutes: 30,
      minimum_samples: 2,
    },
  ],
}

/** The evaluated flags, by weight. */
export const demoAnswers: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  'new-checkout': { true: 3, false: 7 },
  'pricing-page-test': { control: 5, 'three-plans': 3, 'yearly-first': 2 },
  'search-v2': { true: 4, false: 6 },
  'dark-mode': { true: 7, false: 3 },
  'shipping-banner': { false: 1 },
  'express-delivery': { true: 5, false: 5 },
  'smart-recommendations': { true: 1, false: 4 },
}
