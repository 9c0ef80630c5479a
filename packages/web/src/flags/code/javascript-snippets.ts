import { javascriptQuoted as q } from './quote.ts'
import { lines, type Snippet, type SnippetContext, type SnippetFlag } from './snippet.ts'

/** A statement over the value of the flag. */
export function branch({ variants }: SnippetFlag, isOn: string, variant: string): string {
  if (variants.length === 0) return `if (${isOn}) {\n  // on\n} else {\n  // off\n}`
  const cases = variants.map(key => `  case ${q(key)}:\n    break`)
  return `switch (${variant}) {\n${cases.join('\n')}\n  default: // off\n}`
}

export const groupsOf = ({ groupType }: SnippetFlag): string | undefined =>
  groupType === undefined ? undefined : `groups: { ${property(groupType)}: 'acme' }`
const property = (name: string): string => (/^[A-Za-z_]\w*$/.test(name) ? name : q(name))

export function javascriptSnippets(context: SnippetContext): Snippet[] {
  return [node(context), browser(context), html(context), react(context), next(context), openFeature(context)]
}

function node({ flag, host, token }: SnippetContext): Snippet {
  const key = q(flag.key)
  const groups = groupsOf(flag)
  return {
    name: 'Node.js',
    guide: 'node',
    install: 'npm install posthog-node',
    syntax: 'c-like',
    code: lines(
      0,
      `import { PostHog } from 'posthog-node'

const client = new PostHog(${q(token)}, { host: ${q(host)} })

const flags = await client.evaluateFlags('user-1'${groups ? `, { ${groups} }` : ''})`,
      branch(flag, `flags.isEnabled(${key})`, `flags.getFlag(${key})`),
      flag.hasPayload ? `const payload = flags.getFlagPayload(${key})` : undefined,
      '\nawait client.shutdown()',
    ),
  }
}

/** Inside `onFeatureFlags`, which runs when flags have arrived and when they change. */
const inBrowser = ({ flag, host, token }: SnippetContext): string => {
  const key = q(flag.key)
  return lines(
    0,
    `posthog.init(${q(token)}, { api_host: ${q(host)} })`,
    flag.groupType === undefined ? undefined : `posthog.group(${q(flag.groupType)}, 'acme')`,
    'posthog.onFeatureFlags(() => {',
    lines(
      2,
      branch(flag, `posthog.isFeatureEnabled(${key})`, `posthog.getFeatureFlag(${key})`),
      flag.hasPayload ? `const payload = posthog.getFeatureFlagResult(${key})?.payload` : undefined,
    ),
    '})',
  )
}

const browser = (context: SnippetContext): Snippet => ({
  name: 'Browser',
  guide: 'browser',
  install: 'npm install posthog-js',
  syntax: 'c-like',
  code: `import posthog from 'posthog-js'\n\n${inBrowser(context)}`,
})

const html = (context: SnippetContext): Snippet => ({
  name: 'HTML',
  guide: 'browser',
  syntax: 'html',
  code: `<!-- dist/array.full.no-external.js of the npm package posthog-js -->
<script src="/posthog.js"></script>
<script>
${lines(2, inBrowser(context))}
</script>`,
})

function react({ flag, host, token }: SnippetContext): Snippet {
  const key = q(flag.key)
  const hasVariants = flag.variants.length > 0
  const hook = flag.hasPayload
    ? 'useFeatureFlagResult'
    : hasVariants
      ? 'useFeatureFlagVariantKey'
      : 'useFeatureFlagEnabled'
  const result = flag.hasPayload ? 'result' : hasVariants ? 'variant' : 'isOn'
  const isOn = flag.hasPayload ? 'result.enabled' : result
  const cases = flag.variants.map(variant => `    case ${q(variant)}:\n      return <p>{${q(variant)}}</p>`)
  return {
    name: 'React',
    guide: 'react',
    install: 'npm install posthog-js',
    syntax: 'c-like',
    code: lines(
      0,
      `import { PostHogProvider, ${hook} } from 'posthog-js/react'
import { createRoot } from 'react-dom/client'

function Feature() {
  const ${result} = ${hook}(${key})
  if (${result} === undefined) return <p>Loading …</p>`,
      flag.hasPayload ? '  const { payload } = result' : undefined,
      hasVariants
        ? `  switch (${flag.hasPayload ? 'result.variant' : result}) {
${cases.join('\n')}
    default:
      return <p>off</p>
  }`
        : `  return <p>{${isOn} ? 'on' : 'off'}</p>`,
      `}

createRoot(document.getElementById('root')).render(
  <PostHogProvider apiKey=${JSON.stringify(token)} options={{ api_host: ${q(host)} }}>
    <Feature />
  </PostHogProvider>,
)`,
    ),
  }
}

function next({ flag, host, token }: SnippetContext): Snippet {
  const key = q(flag.key)
  const groups = groupsOf(flag)
  return {
    name: 'Next.js',
    guide: 'nextjs',
    install: 'npm install posthog-node',
    syntax: 'c-like',
    code: lines(
      0,
      `// app/page.js
import { PostHog } from 'posthog-node'
import { cookies } from 'next/headers'
import { connection } from 'next/server'

const client = new PostHog(${q(token)}, { host: ${q(host)} })

export default async function Page() {
  await connection()
  const userId = (await cookies()).get('visitor').value
  const flags = await client.evaluateFlags(userId${groups ? `, { ${groups} }` : ''})`,
      flag.hasPayload ? `  const payload = flags.getFlagPayload(${key})` : undefined,
      flag.variants.length > 0
        ? `  switch (flags.getFlag(${key})) {
${flag.variants.map(variant => `    case ${q(variant)}:\n      return <p>{${q(variant)}}</p>`).join('\n')}
    default:
      return <p>off</p>
  }`
        : `  return <p>{flags.getFlag(${key}) ? 'on' : 'off'}</p>`,
      '}',
    ),
  }
}

function openFeature({ flag, host, token }: SnippetContext): Snippet {
  const key = q(flag.key)
  const groups = groupsOf(flag)
  const context = `{ targetingKey: 'user-1'${groups ? `, ${groups}` : ''} }`
  const hasVariants = flag.variants.length > 0
  const type = hasVariants ? 'String' : 'Boolean'
  const fallback = hasVariants ? "'off'" : 'false'
  const read = flag.hasPayload
    ? `const details = await client.get${type}Details(${key}, ${fallback}, ${context})`
    : `const value = await client.get${type}Value(${key}, ${fallback}, ${context})`
  const value = flag.hasPayload ? 'details.value' : 'value'
  return {
    name: 'OpenFeature',
    guide: 'openfeature',
    install: 'npm install @openfeature/server-sdk @openfeature/ofrep-provider',
    syntax: 'c-like',
    code: lines(
      0,
      `import { OFREPProvider } from '@openfeature/ofrep-provider'
import { OpenFeature } from '@openfeature/server-sdk'

await OpenFeature.setProviderAndWait(
  new OFREPProvider({ baseUrl: ${q(host)}, headers: [['Authorization', ${q(`Bearer ${token}`)}]] }),
)
const client = OpenFeature.getClient()
${read}`,
      branch(flag, value, value),
      flag.hasPayload ? 'const payload = details.flagMetadata.payload' : undefined,
      '\nawait OpenFeature.close()',
    ),
  }
}
