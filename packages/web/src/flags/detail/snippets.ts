import type { Flag } from '@halyard/contract'
import { readFilters } from '../filters.ts'

export interface Snippet {
  readonly name: string
  /** The install command. */
  readonly install?: string
  readonly code: string
}

interface Given {
  readonly flag: Flag
  readonly host: string
  readonly token: string
}

/** Single quotes where the literal means the same in JavaScript and in Python. */
const quoted = (text: string): string => (/['\\\\]/.test(text) ? JSON.stringify(text) : `'${text}'`)

export function snippets({ flag, host, token }: Given): Snippet[] {
  const key = quoted(flag.key)
  const [variant] = readFilters(flag.filters).variants
  const isOn = (value: string, equals: string) => (variant ? `${value} ${equals} ${quoted(variant.key)}` : value)
  return [
    {
      name: 'posthog-node',
      install: 'npm install posthog-node',
      code: `import { PostHog } from 'posthog-node'

const client = new PostHog('${token}', { host: '${host}' })

const value = await client.getFeatureFlag(${key}, 'user-1')
if (${isOn('value', '===')}) {
  // runs when the flag is on
}

await client.shutdown()`,
    },
    {
      name: 'posthog-js',
      install: 'npm install posthog-js',
      code: `import posthog from 'posthog-js'

posthog.init('${token}', { api_host: '${host}' })

posthog.onFeatureFlags(() => {
  if (${isOn(`posthog.getFeatureFlag(${key})`, '===')}) {
    // runs when the flag is on
  }
})`,
    },
    {
      name: 'posthog-python',
      install: 'pip install posthog',
      code: `from posthog import Posthog

client = Posthog('${token}', host='${host}')

value = client.get_feature_flag(${key}, 'user-1')
if ${isOn('value', '==')}:
    ...  # runs when the flag is on`,
    },
    {
      name: 'OpenFeature',
      install: 'npm install @openfeature/server-sdk @openfeature/ofrep-provider',
      code: `import { OpenFeature } from '@openfeature/server-sdk'
import { OFREPProvider } from '@openfeature/ofrep-provider'

await OpenFeature.setProviderAndWait(
  new OFREPProvider({ baseUrl: '${host}', headers: [['Authorization', 'Bearer ${token}']] }),
)

const client = OpenFeature.getClient()
const value = await client.${variant ? `getStringValue(${key}, ${quoted(variant.key)}` : `getBooleanValue(${key}, false`}, { targetingKey: 'user-1' })`,
    },
    {
      name: 'curl',
      code: `curl '${host}/flags/?v=2' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify({ token, distinct_id: 'user-1', flag_keys_to_evaluate: [flag.key] }).replaceAll("'", "'\\''")}'`,
    },
  ]
}
