import { describe, expect, test } from 'vitest'
import { Problem } from '../../../problem.ts'
import { checkSyntax, compileSource } from './compile-source.ts'
import { withCompiler } from './compiler-service.ts'

const available = new Set(['crypto'])
const compile = (files: Record<string, string>, main = Object.keys(files)[0]!) =>
  compileSource(new Map(Object.entries(files)), main, available)

/** Runs compiled code as the sandbox does, with nothing but the three CommonJS names. */
async function load(files: Record<string, string>): Promise<Record<string, unknown>> {
  const module = { exports: {} }
  const { code } = await compile(files)
  new Function('module', 'exports', 'require', code)(module, module.exports, (name: string) => `module ${name}`)
  return module.exports
}

async function faultOf(work: Promise<unknown>): Promise<[string | null, string]> {
  const error = await work.then(
    () => new Error('It did not fail.'),
    reason => reason,
  )
  if (error instanceof Problem) return [error.field, error.message]
  throw error
}

describe('compiling', () => {
  test('takes TypeScript and JSX', async () => {
    const loaded = await load({
      'index.tsx': `
        import { Plugin } from 'no-such-package'
        interface A { a: number }
        const h = (tag: string, props: unknown, ...rest: unknown[]) => [tag, props, rest]
        const React = { createElement: h }
        export const a: A = { a: 1 } satisfies A
        export default <p id="x">hi</p>`,
    })
    expect(loaded).toMatchObject({ a: { a: 1 }, default: ['p', { id: 'x' }, ['hi']] })
  })

  test('takes every way to export', async () => {
    expect(await load({ 'index.js': 'module.exports = { a: 1 }' })).toEqual({ a: 1 })
    expect(await load({ 'index.js': 'exports.a = 1' })).toEqual({ a: 1 })
    const mixed = "import { Plugin } from '@posthog/plugin-scaffold'\nconst p: Plugin = { a: 1 }\nmodule.exports = p"
    expect(await load({ 'index.ts': mixed })).toEqual({ a: 1 })
  })

  test('bundles the files that are imported, and names them', async () => {
    const files = {
      'dist/index.js': "import { b } from './lib/b.js'; import data from '../data.json'; export const a = b + data.n",
      'dist/lib/b.ts': "export { c as b } from '../c'",
      'dist/c/index.js': 'exports.c = 40',
      'data.json': '{"n": 2}',
      'unused.js': 'syntax error',
    }
    expect(await load(files)).toMatchObject({ a: 42 })
    expect([...(await compile(files)).fileNames].sort()).toEqual([
      'data.json',
      'dist/c/index.js',
      'dist/index.js',
      'dist/lib/b.ts',
    ])
  })

  test('keeps functions that are not exported', async () => {
    expect((await compile({ 'index.js': 'function processEvent(e) { return e }' })).code).toContain('processEvent')
  })

  test('leaves available packages to the sandbox', async () => {
    expect(await load({ 'index.js': "exports.a = require('crypto')" })).toEqual({ a: 'module crypto' })
  })

  test.each<[Record<string, string>, string, string]>([
    [{ 'index.ts': 'const a = 1\nconst b: = 2' }, 'index.ts', 'index.ts:2:10: '],
    [
      { 'index.js': "\n  import x from 'lodash'; x()" },
      'index.js',
      'index.js:2:17: The package "lodash" is not available',
    ],
    [{ 'index.js': "require('fs')" }, 'index.js', 'index.js:1:9: The package "fs" is not available'],
    [{ 'index.ts': "import './gone'" }, 'index.ts', 'index.ts:1:8: There is no file "./gone"'],
    [{ 'index.ts': "import './a.js'", 'a.js': 'let a; let a' }, 'a.js', 'a.js:1:12: '],
    [{ 'index.ts': "import '../../../../etc/passwd'" }, 'index.ts', 'index.ts:1:8: There is no file'],
    [{ 'index.ts': "import './a.png'", 'a.png': '' }, 'index.ts', 'index.ts:1:8: This is not a code file'],
    [{ 'index.ts': 'await 1' }, 'index.ts', 'index.ts:1:1: '],
  ])('says where an error is: %j', async (files, file, message) => {
    const [field, text] = await faultOf(compile(files))
    expect(field).toBe(file)
    expect(text).toContain(message)
  })

  test('checks a file that nothing imports', async () => {
    expect(await faultOf(checkSyntax('site.ts', 'let x: number = <'))).toEqual([
      'site.ts',
      expect.stringMatching(/^site\.ts:1:18: /),
    ])
    await checkSyntax('readme.md', 'not code <')
    await checkSyntax('frontend.tsx', 'export const a = <b/>')
  })
})

describe('code that is too much for the compiler', () => {
  const million = 1024 * 1024 - 10
  const normal = { 'index.ts': 'export const a: number = 1' }

  test.each(['[', '(', '{', '!', '- ', '`${'])('is rejected when %s is nested a million times', async unit => {
    const code = `x = ${unit.repeat(million / unit.length)}`
    const expected = ['index.js', 'index.js: the code is nested deeper than 2000 levels.']
    expect(await faultOf(compile({ 'index.js': code }))).toEqual(expected)
    expect(await faultOf(checkSyntax('index.js', code))).toEqual(expected)
    expect(await load(normal)).toEqual({ a: 1 })
  })

  test('is rejected by the name of the imported file', async () => {
    const files = { 'index.js': "import './deep.js'", 'deep.js': '['.repeat(million) }
    expect(await faultOf(compile(files))).toEqual(['deep.js', 'deep.js: the code is nested deeper than 2000 levels.'])
  })

  test('crashes only itself when its nesting has no brackets', async () => {
    const crashing = compile({ 'index.js': `x = ${'a=>'.repeat(million / 3)}1` })
    const beside = load(normal)
    expect((await faultOf(crashing))[1]).toMatch(/crashes the compiler|takes longer than/)
    expect(await beside).toEqual({ a: 1 })
    expect(await load(normal)).toEqual({ a: 1 })
  }, 60_000)

  test('is stopped when it takes too long, and the next source compiles', async () => {
    const compiling = withCompiler('slow.js', () => new Promise<never>(() => {}), 20)
    expect(await faultOf(compiling)).toEqual(['slow.js', 'slow.js: compiling takes longer than 0.02 seconds.'])
    expect(await load(normal)).toEqual({ a: 1 })
  })

  test('compiles after the compiler was stopped', async () => {
    await load(normal)
    await (await import('esbuild')).stop()
    expect(await load(normal)).toEqual({ a: 1 })
  })

  test('accepts code that is nested as deeply as the limit', async () => {
    const code = `export const a = ${'['.repeat(2_000)}${']'.repeat(2_000)}.length`
    expect((await compile({ 'index.js': code })).fileNames).toEqual(['index.js'])
  })
})
