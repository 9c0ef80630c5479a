import { describe, expect, test } from 'vitest'
import { Problem } from '../../../problem.ts'
import { parseManifest } from './manifest.ts'

const parse = (json: unknown) => parseManifest(JSON.stringify(json))

function faultOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof Problem) {
      expect(error).toMatchObject({ kind: 'invalid', field: 'plugin.json' })
      return error.message
    }
    throw error
  }
  throw new Error('It did not fail.')
}

describe('plugin.json', () => {
  test('gives what a plugin shows of itself', () => {
    const manifest = parse({
      name: 'Chat',
      description: 'Posts.',
      icon: 'https://x/y.png',
      main: 'dist/index.js',
      posthogVersion: '>= 1.24.0',
      config: [
        { markdown: 'Hello' },
        { key: 'url', type: 'string', required: true, hint: 'a hint', extra: 1 },
        { markdown: 'World' },
        { key: 'kind', type: 'choice', choices: ['a', 'b'], default: 'a', visible_if: [['url']] },
      ],
      publicJobs: { 'Send now': { payload: { text: { type: 'string', required: true } } } },
      allowedHosts: ['API.example.com', '*.chat.test:8443'],
    })
    expect(manifest).toEqual({
      name: 'Chat',
      description: 'Posts.',
      icon: 'https://x/y.png',
      main: 'dist/index.js',
      configSchema: {
        markdown_1: { markdown: 'Hello' },
        url: { key: 'url', type: 'string', required: true, hint: 'a hint', extra: 1 },
        markdown_2: { markdown: 'World' },
        kind: { key: 'kind', type: 'choice', choices: ['a', 'b'], default: 'a', visible_if: [['url']] },
      },
      publicJobs: { 'Send now': { payload: { text: { type: 'string', required: true } } } },
      allowedHosts: ['api.example.com', '*.chat.test:8443'],
    })
  })

  test('has defaults for all of it', () => {
    expect(parse({})).toEqual({
      name: undefined,
      description: undefined,
      icon: undefined,
      main: undefined,
      configSchema: {},
      publicJobs: {},
      allowedHosts: [],
    })
  })

  test('takes config as an object by field key', () => {
    const config = { a: { type: 'string', order: 2 }, b: { type: 'json' } }
    expect(parse({ config }).configSchema).toEqual(config)
  })

  test.each<[string, unknown]>([
    ['name', 'Geo\r\nOpen http://evil.example'],
    ['name', 'Geo\u202enow'],
    ['description', 'a\u0000b'],
    ['icon', '\ud800'],
    ['config', [1]],
    ['config', 'x'],
    ['config', [{ type: 'string' }]],
    ['config', [{ key: 'a', type: 'dictionary' }]],
    ['config', [{ key: 'a' }]],
    ['config', [{ key: 'a', type: 'choice' }]],
    ['config', [{ key: 'a', type: 'choice', choices: [] }]],
    ['config', [{ key: 'a', type: 'choice', choices: [1] }]],
    ['config', [{ key: 'a', type: 'choice', choices: ['x'], secret: true }]],
    ['config', [{ key: 'a', type: 'choice', choices: ['x'], default: 'y' }]],
    ['config', [{ key: 'a', type: 'string', default: 1 }]],
    ['config', [{ key: 'a', type: 'string', required: 'yes' }]],
    ['config', [{ key: 'a', type: 'string', visible_if: 'b' }]],
    ['config', [{ key: 'a', type: 'string', required_if: [['b', 1]] }]],
    [
      'config',
      [
        { key: 'a', type: 'string' },
        { key: 'a', type: 'json' },
      ],
    ],
    ['config', { a: 'string' }],
    ['name', 5],
    ['name', 'x'.repeat(201)],
    ['description', {}],
    ['icon', 'x'.repeat(801)],
    ['main', []],
    ['publicJobs', []],
    ['publicJobs', { a: 1 }],
    ['publicJobs', { a: { payload: { b: { type: 'blob' } } } }],
    ['posthogVersion', 'newest'],
    ['posthogVersion', 1],
    ['posthogVersion', '>=2.0.0'],
    ['posthogVersion', '<1.43.0'],
    ['allowedHosts', 'x.y'],
    ['allowedHosts', ['https://x.y']],
    ['allowedHosts', ['*']],
    ['allowedHosts', ['a.*.b']],
    ['allowedHosts', ['x/y']],
  ])('is refused for %s %j', (key, value) => {
    expect(faultOf(() => parse({ [key]: value }))).toMatch(/^plugin\.json is invalid: .+\.$/)
  })

  test.each(['', '{', '[]', 'null', '"x"'])('is refused when it is %j', text => {
    expect(faultOf(() => parseManifest(text))).toContain('plugin.json')
  })

  test('is refused when stateless with config', () => {
    expect(faultOf(() => parse({ stateless: true, config: [{ key: 'a', type: 'string' }] }))).toContain('stateless')
    expect(parse({ stateless: true }).configSchema).toEqual({})
  })

  test('cannot smuggle a prototype in as a field', () => {
    const manifest = parseManifest('{"config": [{"key": "__proto__", "type": "string"}]}')
    expect(Object.getPrototypeOf(manifest.configSchema)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>).type).toBeUndefined()
  })
})
