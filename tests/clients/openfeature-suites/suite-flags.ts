/** The flags that OpenFeature's suites evaluate, as flags of Halyard. */

const email = { key: 'email', type: 'person', operator: 'exact', value: ['ballmer@macrosoft.com'] }
const person = (key: string, operator: string, value: unknown) => ({ key, type: 'person', operator, value })

type Kind = 'boolean' | 'string' | 'number' | 'object'

/** Everyone gets the first variant. A value is the payload of its variant. */
function valued(key: string, kind: Kind, values: Readonly<Record<string, unknown>>, targeted = false) {
  const [first] = Object.keys(values)
  const usual = { variant: first }
  return {
    key,
    filters: {
      return_type: kind,
      groups: targeted ? [{ properties: [email], variant: first }, usual] : [usual],
      multivariate: { variants: Object.keys(values).map((each, index) => weighted(each, index)) },
      payloads: Object.fromEntries(Object.entries(values).map(([each, value]) => [each, JSON.stringify(value)])),
    },
  }
}

const weighted = (key: string, index: number) => ({ key, rollout_percentage: index === 0 ? 100 : 0 })

/** The value of a flag with variants is the variant's key. */
const worded = (key: string, words: readonly string[], groups: readonly object[] = [{ variant: words[0] }]) => ({
  key,
  filters: { groups, multivariate: { variants: words.map(weighted) } },
})

/** No variant has an empty key: the payload is the value. */
const emptyText = (key: string, groups: readonly object[]) => ({
  key,
  filters: { return_type: 'string', groups, payloads: { true: '""' } },
})

const template = { showImages: true, title: 'Check out these pics!', imagesPerPage: 100 }
const disabled = <T extends { key: string }>(flag: T) => ({ ...flag, active: false })

export const suiteFlags = [
  { key: 'boolean-flag', filters: { groups: [{}] } },
  worded('string-flag', ['hi', 'bye']),
  valued('integer-flag', 'number', { ten: 10, one: 1 }),
  valued('float-flag', 'number', { half: 0.5, tenth: 0.1 }),
  valued('object-flag', 'object', { template, empty: {} }),
  worded('wrong-flag', ['uno', 'dos']),
  { key: 'metadata-flag', filters: { groups: [{}] } },

  valued('boolean-zero-flag', 'boolean', { zero: false, 'non-zero': true }),
  emptyText('string-zero-flag', [{}]),
  valued('integer-zero-flag', 'number', { zero: 0, 'non-zero': 1 }),
  valued('float-zero-flag', 'number', { zero: 0, 'non-zero': 1.5 }),
  valued('object-zero-flag', 'object', { zero: {}, 'non-zero': template }),

  valued('boolean-targeted-zero-flag', 'boolean', { zero: false, 'non-zero': true }, true),
  emptyText('string-targeted-zero-flag', [{ properties: [email] }, {}]),
  valued('integer-targeted-zero-flag', 'number', { zero: 0, 'non-zero': 1 }, true),
  valued('float-targeted-zero-flag', 'number', { zero: 0, 'non-zero': 1.5 }, true),
  valued('object-targeted-zero-flag', 'object', { zero: {}, 'non-zero': template }, true),

  disabled({ key: 'boolean-disabled-flag' }),
  disabled(worded('string-disabled-flag', ['hi', 'bye'])),
  disabled(valued('integer-disabled-flag', 'number', { ten: 10, one: 1 })),
  disabled(valued('float-disabled-flag', 'number', { half: 0.5, tenth: 0.1 })),
  disabled(valued('object-disabled-flag', 'object', { template, empty: {} })),

  worded(
    'complex-targeted',
    ['EXTERNAL', 'INTERNAL'],
    [
      {
        properties: [email, person('customer', 'exact', ['false']), person('age', 'gt', 10)],
        variant: 'INTERNAL',
      },
      { variant: 'EXTERNAL' },
    ],
  ),
  worded(
    'context-aware',
    ['EXTERNAL', 'INTERNAL'],
    [
      {
        properties: [
          person('fn', 'exact', ['Sulisław']),
          person('ln', 'exact', ['Świętopełk']),
          // Not `exact`: posthog-node has a doubt about whole numbers and lets a later condition decide, so the server does too.
          person('age', 'number_eq', 29),
          person('customer', 'exact', ['false']),
        ],
        variant: 'INTERNAL',
      },
      { variant: 'EXTERNAL' },
    ],
  ),
]
