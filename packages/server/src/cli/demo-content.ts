/** What `halyard demo` puts into a project: a small shop, its customers, and the flags that a team would have there. */

export const demoProjectName = 'Demo shop'
export const demoPluginName = 'Demo: mark big orders'

export interface DemoPerson {
  readonly distinctId: string
  readonly properties: Readonly<Record<string, unknown>>
  readonly company: string
}

const firstNames = ['Ada', 'Grace', 'Linus', 'Margaret', 'Alan', 'Barbara', 'Edsger', 'Frances', 'Ken', 'Radia']
const lastNames = ['Berg', 'Costa', 'Dubois', 'Eriksen', 'Fischer', 'Garcia', 'Hansen', 'Ito', 'Jansen', 'Keller']
const countries = ['DE', 'FR', 'ES', 'SE', 'US', 'JP']
const plans = ['free', 'free', 'free', 'pro', 'team']
const companies = ['acme', 'globex', 'initech', 'umbrella', 'hooli', 'stark']

const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T

export const demoPeople: readonly DemoPerson[] = Array.from({ length: 200 }, (_, index) => {
  const first = pick(firstNames, index)
  const last = pick(lastNames, Math.floor(index / firstNames.length) + index)
  const company = pick(companies, index * 7)
  return {
    distinctId: `customer-${index + 1}`,
    company,
    properties: {
      name: `${first} ${last}`,
      email: `${first}.${last}.${index + 1}@${company}.example`.toLowerCase(),
      country: pick(countries, index * 5),
      plan: pick(plans, index * 3),
      app_version: `2.${index % 9}.${index % 4}`,
      orders: (index * 13) % 40,
      signed_up_at: new Date(Date.UTC(2026, index % 9, 1 + (index % 27))).toISOString(),
    },
  }
})

export const demoCompanies = companies.map((key, index) => ({
  key,
  properties: { employees: (index + 1) * 45, industry: pick(['retail', 'software', 'logistics'], index) },
}))

export const demoCohort = {
  name: 'Paying customers',
  description: 'Everybody on a paid plan.',
  filters: {
    properties: {
      type: 'OR',
      values: [{ type: 'AND', values: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro', 'team'] }] }],
    },
  },
}

const person = (key: string, operator: string, value: unknown) => ({ key, type: 'person', operator, value })
const condition = (rollout_percentage: number, ...properties: object[]) => ({ properties, rollout_percentage })

/** In the order in which they are created. `answers`: what is counted as asked for, by weight. */
export const demoFlags = (cohortId: number) => [
  {
    flag: {
      key: 'new-checkout',
      name: 'One-page checkout: staff first, then paying customers, then everybody',
      tags: ['checkout', 'web'],
      filters: {
        groups: [
          condition(100, person('email', 'ends_with', '@acme.example')),
          condition(50, { key: 'id', type: 'cohort', operator: 'in', value: cohortId }),
          condition(10),
        ],
      },
    },
    answers: { true: 3, false: 7 },
  },
  {
    flag: {
      key: 'pricing-page-test',
      name: 'Which pricing page sells better?',
      tags: ['growth', 'experiment'],
      filters: {
        groups: [condition(100, person('country', 'exact', ['DE', 'FR', 'ES']))],
        multivariate: {
          variants: [
            { key: 'control', rollout_percentage: 50 },
            { key: 'three-plans', rollout_percentage: 25 },
            { key: 'yearly-first', rollout_percentage: 25 },
          ],
        },
        payloads: { 'yearly-first': '{"discount": 20}' },
      },
    },
    answers: { control: 5, 'three-plans': 3, 'yearly-first': 2 },
  },
  {
    flag: {
      key: 'search-v2',
      name: 'New search index, by company',
      tags: ['platform'],
      filters: { groups: [condition(40)], aggregation_group_type_index: 0 },
    },
    answers: { true: 4, false: 6 },
  },
  {
    flag: {
      key: 'dark-mode',
      name: 'Dark colours in the app',
      tags: ['app'],
      filters: { groups: [condition(100, person('app_version', 'semver_gte', '2.3.0'))] },
    },
    answers: { true: 7, false: 3 },
  },
  {
    flag: {
      key: 'shipping-banner',
      name: 'Banner about the free shipping week',
      tags: ['web'],
      active: false,
      filters: { groups: [condition(100)], payloads: { true: '{"text": "Free shipping until Sunday"}' } },
    },
    answers: { false: 1 },
  },
  {
    flag: {
      key: 'express-delivery',
      name: 'Express delivery for regulars',
      tags: ['checkout'],
      filters: { groups: [condition(100, person('orders', 'gte', '10')), condition(5)] },
    },
    answers: { true: 5, false: 5 },
  },
  {
    flag: { key: 'legacy-importer', name: 'Old importer, kept until the last store has moved', tags: ['platform'] },
    answers: {},
  },
]

export const demoPluginSource = {
  'plugin.json': JSON.stringify(
    {
      name: demoPluginName,
      description: 'Marks events of big orders, so that flags and cohorts can point at them.',
      main: 'index.js',
      config: [{ key: 'limit', name: 'From how many items', type: 'string', default: '20', required: true }],
    },
    null,
    2,
  ),
  'index.js': `export function processEvent(event, { config }) {
  if (event.event === 'order placed') {
    event.properties.is_big_order = Number(event.properties.items) >= Number(config.limit)
  }
  return event
}
`,
}
