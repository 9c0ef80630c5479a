import { readFileSync } from 'node:fs'
import { transform } from 'esbuild'
import { describe, expect, it } from 'vitest'
import { highlight } from '../../packages/web/src/flags/code/highlight.ts'
import type { Snippet, SnippetFlag } from '../../packages/web/src/flags/code/snippet.ts'
import { snippets } from '../../packages/web/src/flags/code/snippets.ts'

const boolean: SnippetFlag = { key: 'new-checkout', variants: [], hasPayload: false, groupType: undefined }
const multivariate: SnippetFlag = {
  key: 'headline-test',
  variants: ['control', 'short'],
  hasPayload: true,
  groupType: 'company',
}
const hostile: SnippetFlag = {
  ...multivariate,
  key: `it's "q" \\ $x #{y} </script> \`z\``,
  variants: [`a'b`, '$c', '\\'],
}
const snippetsFor = (flag: SnippetFlag) => snippets({ flag, host: 'https://flags.example.com', token: 'phc_x' })
const guideOf = ({ guide }: Snippet) =>
  readFileSync(new URL(`../../docs/quick-start/${guide}.md`, import.meta.url), 'utf8')

/** Methods of SDKs: `client.evaluateFlags(`, `PostHog::init(`, `$flags->getFlag(`, `flags.enabled?(`, `useFeatureFlag…(`. */
const callsOf = (code: string) =>
  [...code.matchAll(/(?:(?<=\.|::|->)|\b(?=use[A-Z]))([A-Za-z_]\w*\??)\(/g)].map(([, name]) => name as string)
const importsOf = (code: string) =>
  code.split('\n').filter(line => /^(import|from|using|use|require) /.test(line) && !line.includes('vendor/'))
/** Not of an SDK. */
const ownCalls = ['valueOf', 'Println', 'Fatal']

describe('snippets', () => {
  it('use the calls and imports of the quick starts', () => {
    for (const snippet of [...snippetsFor(boolean), ...snippetsFor(multivariate)]) {
      if (snippet.guide === undefined) continue
      const guide = guideOf(snippet)
      for (const call of callsOf(snippet.code)) {
        if (!ownCalls.includes(call)) expect(guide, `${snippet.name}: ${call}`).toContain(call)
      }
      for (const line of importsOf(snippet.code)) {
        const [module] = /["'][^"']+["']$/.exec(line) ?? [line]
        expect(guide, snippet.name).toContain(module)
      }
      if (snippet.install) expect(guide, snippet.name).toContain(snippet.install.replace(/^implementation\(|\)$/g, ''))
    }
  })

  it('exist for every target, handle each variant and read the payload', () => {
    expect(snippetsFor(boolean).map(({ name }) => name)).toHaveLength(18)
    for (const { name, code } of snippetsFor(multivariate)) {
      if (name === 'curl') continue
      for (const variant of multivariate.variants) expect(code, name).toMatch(new RegExp(`["']${variant}["']`))
      expect(code, name).toMatch(/payload/i)
    }
    for (const { name, code } of snippetsFor(boolean)) expect(code, name).not.toContain('payload')
  })

  it('are valid JavaScript, whatever the keys hold', async () => {
    for (const flag of [boolean, multivariate, hostile]) {
      for (const { name, code } of snippetsFor(flag)) {
        if (!/^(Node\.js|Browser|React|Next\.js|OpenFeature|Halyard for .+)$/.test(name)) continue
        await expect(transform(code, { loader: 'jsx', format: 'esm' }), code).resolves.toBeTruthy()
      }
    }
  })

  it('quote keys for their language', () => {
    const code = (name: string) => snippetsFor(hostile).find(snippet => snippet.name === name)?.code
    expect(code('HTML')?.match(/<\/script>/g)).toHaveLength(2)
    expect(code('PHP')).toContain(`'it\\'s "q" \\\\ $x #{y} </script> \`z\`'`)
    expect(code('Android')).toContain('\\$x')
    expect(code('Go')).toContain(JSON.stringify(hostile.key))
  })

  it('are highlighted without losing a character', () => {
    for (const { code, syntax } of snippetsFor(hostile)) {
      expect(
        highlight(code, syntax)
          .map(({ text }) => text)
          .join(''),
      ).toBe(code)
    }
    expect(highlight("const a = 'x' // y", 'c-like').map(({ kind }) => kind)).toEqual([
      'keyword',
      'text',
      'string',
      'text',
      'comment',
    ])
  })
})
