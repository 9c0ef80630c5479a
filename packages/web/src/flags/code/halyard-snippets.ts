import { branch, groupsOf } from './javascript-snippets.ts'
import { javascriptQuoted as q } from './quote.ts'
import { lines, type Snippet, type SnippetContext } from './snippet.ts'

/** With Halyard's own packages: evaluated in the process, or with the types of the flags. */
export const halyardSnippets = (context: SnippetContext): Snippet[] => [client(context), react(context)]

function client({ flag, host }: SnippetContext): Snippet {
  const groups = groupsOf(flag)
  const result = flag.hasPayload ? '{ value, payload }' : '{ value }'
  return {
    name: 'Halyard for Node.js',
    guide: 'in-process',
    syntax: 'c-like',
    code: lines(
      0,
      `import { createClient } from '@halyard/client'

const halyard = createClient({ url: ${q(host)}, key: process.env.HALYARD_SECRET_KEY })
await halyard.ready()

const user = { distinctId: 'user-1'${groups ? `, ${groups}` : ''} }
const ${result} = await halyard.evaluate(${q(flag.key)}, user)`,
      branch(flag, 'value', 'value'),
      '\nawait halyard.close()',
    ),
  }
}

function react({ flag, host, token }: SnippetContext): Snippet {
  const key = q(flag.key)
  const groups = groupsOf(flag)
  const hasVariants = flag.variants.length > 0
  const fallback = hasVariants ? q('off') : 'false'
  const cases = flag.variants.map(variant => `    case ${q(variant)}:\n      return <p>{${q(variant)}}</p>`)
  return {
    name: 'Halyard for React',
    guide: 'in-process',
    syntax: 'c-like',
    code: lines(
      0,
      `import { HalyardFlags, ${flag.hasPayload ? 'useFlagDetails' : 'useFlag'} } from '@halyard/react'

function Feature() {`,
      flag.hasPayload
        ? `  const { value, flagMetadata } = useFlagDetails(${key}, ${fallback})\n  const { payload } = flagMetadata`
        : `  const value = useFlag(${key}, ${fallback})`,
      hasVariants
        ? `  switch (value) {\n${cases.join('\n')}\n    default:\n      return <p>off</p>\n  }`
        : "  return <p>{value ? 'on' : 'off'}</p>",
      `}

const context = { targetingKey: 'user-1'${groups ? `, ${groups}` : ''} }
export const App = () => (
  <HalyardFlags url=${JSON.stringify(host)} token=${JSON.stringify(token)} context={context}>
    <Feature />
  </HalyardFlags>
)`,
    ),
  }
}
