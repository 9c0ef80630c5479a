import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { generateTypes } from './generate-types.ts'

const root = resolve(import.meta.dirname, '../../../../..')
const variants = [{ key: 'control' }, { key: "it's" }]
const flags = [
  {
    key: 'theme',
    name: '',
    filters: { return_type: 'object', payloads: { true: '{"dark":true}' }, default_value: { dark: false } },
  },
  { key: 'on', name: 'A switch */\nof two lines', filters: {} },
  { key: 'pricing-test', name: '', filters: { multivariate: { variants }, payloads: { control: '{"size":1}' } } },
  { key: 'limit', name: '', filters: { return_type: 'number', payloads: { true: 5 }, default_value: 7 } },
  { key: 'mode', name: '', filters: { return_type: 'string', payloads: { true: '"a"' } } },
  { key: 'any', name: '', filters: { payloads: { true: '[1]' } } },
]
const schemas = new Map<string, Record<string, unknown>>([
  [
    'theme',
    {
      type: 'object',
      properties: {
        dark: { type: 'boolean' },
        'font-size': { type: ['integer', 'null'] },
        tags: { type: 'array', items: { type: 'string' } },
      },
      required: ['dark'],
    },
  ],
  [
    'pricing-test',
    { anyOf: [{ type: 'object', properties: { size: { type: 'number' } }, required: ['size'] }, { const: 0 }] },
  ],
  ['mode', { enum: ['a', 'b'] }],
])

it('generates keys, variants, payloads, defaults and comments', () => {
  const text = generateTypes({ flags, schemas, stale: new Set(['on']), targets: [] })
  expect(text).toContain("  'pricing-test': 'control' | 'it\\'s'\n")
  expect(text).toContain("  mode: 'a' | 'b'\n")
  expect(text).toContain("  theme: { dark: boolean; 'font-size'?: number | null; tags?: Array<string> }\n")
  expect(text).toContain("  'pricing-test': { size: number } | 0\n")
  expect(text).toContain('  any: Json\n')
  expect(text).toContain('   * A switch *\\/\n   * of two lines\n   * @deprecated')
  expect(text).toContain('  limit: 7,\n')
  // Of a type that the schema does not allow.
  expect(text).not.toContain('mode: ""')
  expect(text).not.toContain('declare module')
  expect(generateTypes({ flags: [...flags].reverse(), schemas, stale: new Set(['on']), targets: [] })).toBe(text)
  expect(generateTypes({ flags: [], schemas: new Map(), stale: new Set(), targets: [] })).toContain('FlagValues {}')
})

it('compiles under strict, and narrows the clients of the OpenFeature SDKs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-types-'))
  try {
    mkdirSync(join(folder, 'node_modules'))
    symlinkSync(join(root, 'node_modules/@types'), join(folder, 'node_modules/@types'))
    symlinkSync(join(root, 'node_modules/@openfeature'), join(folder, 'node_modules/@openfeature'))
    const generated = generateTypes({
      flags,
      schemas,
      stale: new Set(),
      targets: ['@openfeature/server-sdk', '@openfeature/web-sdk'],
    })
    writeFileSync(join(folder, 'flags.ts'), generated)
    writeFileSync(join(folder, 'use.ts'), use)
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    const options = {
      strict: true,
      noEmit: true,
      module: 'nodenext',
      target: 'es2022',
      lib: ['es2023', 'dom'],
      types: ['node'],
    }
    const compilerOptions = { ...options, allowImportingTsExtensions: true, noUncheckedIndexedAccess: true }
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }))
    const compiler = join(root, 'node_modules/typescript/bin/tsc')
    const output = await new Promise<string>(done =>
      execFile(process.execPath, [compiler, '-p', folder], (_error, stdout) => done(stdout)),
    )
    expect(output).toBe('')
  } finally {
    rmSync(folder, { recursive: true })
  }
}, 120_000)

const use = `
import { OpenFeature } from '@openfeature/server-sdk'
import { OpenFeature as Web } from '@openfeature/web-sdk'
import { type BooleanFlagKey, type FlagKey, flagDefaults, type FlagPayloads, type FlagValues, type NumberFlagKey, type ObjectFlagKey, type StringFlagKey, typedServerClient, typedWebClient } from './flags.ts'

type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never
const keys: Same<BooleanFlagKey, 'on' | 'any'> & Same<NumberFlagKey, 'limit'> & Same<ObjectFlagKey, 'theme'> = true
const texts: Same<StringFlagKey, 'pricing-test' | 'mode'> = true
const payload: FlagPayloads['pricing-test'] = { size: 1 }

const client = typedServerClient(OpenFeature.getClient())
const price: 'control' | "it's" = await client.getStringValue('pricing-test', 'control')
const dark: boolean = (await client.getObjectValue('theme', flagDefaults.theme)).dark
const limit: number = (await client.getNumberDetails('limit', flagDefaults.limit)).value
const mode: FlagValues['mode'] = typedWebClient(Web.getClient()).getStringValue('mode', 'a')
const key: FlagKey = 'on'
// @ts-expect-error There is no such flag.
await client.getBooleanValue('unknown', false)
// @ts-expect-error It has another type.
await client.getBooleanValue('limit', false)
// @ts-expect-error There is no such flag.
const wrong: FlagKey = 'unknown'
// @ts-expect-error There is no such variant.
const other: FlagValues['pricing-test'] = 'slow'
export { dark, key, keys, limit, mode, other, payload, price, texts, wrong }
`
