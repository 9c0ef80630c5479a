/** What the demo is about: a small shop, its customers and the people who look after it. */

export const demoOrganizationName = 'Halyard demo'
export const demoProjectName = 'Demo shop'
export const demoStagingName = 'Demo shop, staging'
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

/** The authors of changes, besides the user who runs the demo. */
export const demoTeam = [
  { name: 'Mira', level: 8 },
  { name: 'Jonas', level: 1 },
] as const

export const demoCohort = {
  name: 'Paying customers',
  description: 'Everyone on a paid plan.',
  filters: {
    properties: {
      type: 'OR',
      values: [{ type: 'AND', values: [{ key: 'plan', type: 'person', operator: 'exact', value: ['pro', 'team'] }] }],
    },
  },
}

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
    if (event.properties.is_big_order) console.log('A big order of', event.properties.items, 'items')
  }
  return event
}
`,
}
