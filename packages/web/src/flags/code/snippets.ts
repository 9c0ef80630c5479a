import { halyardSnippets } from './halyard-snippets.ts'
import { javascriptSnippets } from './javascript-snippets.ts'
import { mobileSnippets } from './mobile-snippets.ts'
import { serverSnippets } from './server-snippets.ts'
import { type Snippet, type SnippetContext, targetNames } from './snippet.ts'

/** A program for each target that evaluates the flag: all its variants, and its payload. */
export function snippets(context: SnippetContext): Snippet[] {
  const all = [
    ...javascriptSnippets(context),
    ...halyardSnippets(context),
    ...serverSnippets(context),
    ...mobileSnippets(context),
    curl(context),
  ]
  return all.sort((a, b) => targetNames.indexOf(a.name) - targetNames.indexOf(b.name))
}

function curl({ flag, host, token }: SnippetContext): Snippet {
  const body = {
    token,
    distinct_id: 'user-1',
    ...(flag.groupType !== undefined && { groups: { [flag.groupType]: 'acme' } }),
    flag_keys_to_evaluate: [flag.key],
  }
  return {
    name: 'curl',
    syntax: 'shell',
    code: `curl '${host}/flags/?v=2' \\
  -H 'Content-Type: application/json' \\
  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
  }
}
