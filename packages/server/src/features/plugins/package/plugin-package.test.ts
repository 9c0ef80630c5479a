import { describe, expect, test } from 'vitest'
import { Problem } from '../../../problem.ts'
import { compileFiles, readPackage } from './plugin-package.ts'

const none = new Set<string>()
const entries = (files: Record<string, string>) =>
  Object.entries(files).map(([path, text]) => ({ path, bytes: Buffer.from(text) }))
const read = (files: Record<string, string>, folder?: string) => readPackage(entries(files), folder, none)
const names = async (files: Record<string, string>, folder?: string) =>
  [...(await read(files, folder)).files.keys()].sort()

async function messageOf(work: Promise<unknown>): Promise<string> {
  const error = await work.then(
    () => new Error('It did not fail.'),
    reason => reason,
  )
  if (error instanceof Problem) return error.message
  throw error
}

describe('a package', () => {
  test('keeps its manifest and its lone main file as index.ts', async () => {
    const files = { 'package/plugin.json': '{"name":"x","main":"dist/a.js"}', 'package/dist/a.js': 'exports.a = 1' }
    const found = await read({ ...files, 'package/README.md': 'text', 'package/b.js': 'exports.b = 1' })
    expect([...found.files]).toEqual([
      ['plugin.json', '{"name":"x","main":"dist/a.js"}'],
      ['index.ts', 'exports.a = 1'],
    ])
    expect(found.code).toContain('exports.a = 1')
    expect(found.manifest.name).toBe('x')
  })

  test('keeps several files under their own names', async () => {
    const files = {
      'p/plugin.json': '{"main":"src/a.js"}',
      'p/src/a.js': "import '../b.js'",
      'p/b.js': '1',
      'p/c.js': '',
    }
    expect(await names(files)).toEqual(['b.js', 'plugin.json', 'src/a.js'])
  })

  test('looks for index.ts and index.js when no main is named or there', async () => {
    expect((await read({ 'plugin.json': '{}', 'index.js': 'exports.js = 1' })).code).toContain('js')
    expect((await read({ 'plugin.json': '{"main":"gone.js"}', 'index.ts': 'export const ts = 1' })).code).toContain(
      'ts',
    )
  })

  test('is found in the shallowest folder with a plugin.json, or in the one that was asked for', async () => {
    const files = {
      'r/a/b/plugin.json': '{"name":"deep"}',
      'r/a/b/index.js': '',
      'r/z/plugin.json': '{"name":"shallow"}',
      'r/z/index.js': '',
    }
    expect((await read(files)).manifest.name).toBe('shallow')
    expect((await read(files, 'a/b')).manifest.name).toBe('deep')
    expect(await messageOf(read(files, 'a'))).toContain('no plugin.json')
  })

  test('may have code for the browser only', async () => {
    const found = await read({ 'plugin.json': '{}', 'frontend.tsx': 'export default <p/>', 'site.ts': 'export {}' })
    expect([...found.files.keys()].sort()).toEqual(['frontend.tsx', 'plugin.json', 'site.ts'])
    expect(found.code).toBeUndefined()
  })

  test.each<[Record<string, string>, string]>([
    [{ 'index.js': '' }, 'no plugin.json'],
    [{ 'plugin.json': '{}' }, 'no file index.js or index.ts'],
    [{ 'plugin.json': '{"main":"a.js"}' }, 'no file a.js'],
    [{ 'plugin.json': '{"main":"../../etc/passwd"}' }, 'no file'],
    [{ 'plugin.json': '{', 'index.js': '' }, 'plugin.json:1:2: '],
    [{ 'plugin.json': '{}', 'index.js': '', 'site.ts': '<' }, 'site.ts:1:'],
  ])('is refused: %j', async (files, message) => {
    expect(await messageOf(read(files))).toContain(message)
  })
})

describe('source written in place', () => {
  test('may be anything between nothing and a plugin', async () => {
    expect((await compileFiles(new Map(), none)).code).toBeUndefined()
    const whole = new Map([
      ['plugin.json', '{"name":"x"}'],
      ['index.ts', 'export const a: number = 1'],
    ])
    const found = await compileFiles(whole, none)
    expect(found.manifest.name).toBe('x')
    expect(found.code).toContain('a = 1')
    expect(found.files).toBe(whole)
  })

  test('has to compile, every file of it', async () => {
    const files = new Map([
      ['index.ts', ''],
      ['other.tsx', 'let a: = 1'],
    ])
    expect(await messageOf(compileFiles(files, none))).toContain('other.tsx:1:')
  })
})
