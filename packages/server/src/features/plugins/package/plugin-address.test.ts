import { describe, expect, test } from 'vitest'
import { Problem } from '../../../problem.ts'
import { isNpmName, parseAddress } from './plugin-address.ts'

const sha = '0123456789abcdef0123456789abcdef01234567'
const github = (ref: unknown, folder?: string) => ({ host: 'github', owner: 'O-1', repository: 'r.js', ref, folder })

describe('an address', () => {
  test.each<[string, unknown]>([
    ['https://www.npmjs.com/package/lodash.merge', { host: 'npm', name: 'lodash.merge' }],
    ['http://npmjs.com/package/@posthog/geoip-plugin/', { host: 'npm', name: '@posthog/geoip-plugin' }],
    ['https://www.npmjs.com/package/@a/b/v/1.2.3-rc.1', { host: 'npm', name: '@a/b', version: '1.2.3-rc.1' }],
    ['https://github.com/O-1/r.js', github(undefined)],
    ['https://www.github.com/O-1/r.js/', github(undefined)],
    ['https://github.com/O-1/r.js/commit/abc', github({ kind: 'commit', name: 'abc' })],
    ['https://github.com/O-1/r.js/tree/main', github({ kind: 'branch', name: 'main' })],
    [`https://github.com/O-1/r.js/tree/${sha}`, github({ kind: 'commit', name: sha })],
    ['https://github.com/O-1/r.js/tree/main/a/b', github({ kind: 'branch', name: 'main' }, 'a/b')],
    ['https://github.com/O-1/r.js/releases/tag/v1.0', github({ kind: 'tag', name: 'v1.0' })],
    ['https://github.com/O-1/r.js/archive/refs/heads/x.zip', github({ kind: 'archive', name: 'refs/heads/x' })],
    ['https://github.com/O-1/r.js/archive/v1.tar.gz', github({ kind: 'archive', name: 'v1' })],
    ['https://gitlab.com/g/p', { host: 'gitlab', project: 'g/p' }],
    ['https://gitlab.com/g/s/p/-/tree/dev', { host: 'gitlab', project: 'g/s/p', ref: 'dev' }],
    ['https://gitlab.com/g/p/-/archive/v1/p-v1.zip', { host: 'gitlab', project: 'g/p', ref: 'v1' }],
    ['file:my-plugin', { host: 'local', folder: 'my-plugin' }],
  ])('%s', (url, address) => {
    expect(parseAddress(url).address).toEqual(address)
  })

  test('keeps its token apart', () => {
    const parsed = parseAddress(' https://github.com/a/b?private_token=s3cret&x=1 ')
    expect(parsed).toMatchObject({ url: 'https://github.com/a/b', token: 's3cret' })
    expect(parseAddress('https://github.com/a/b').token).toBeUndefined()
    expect(parseAddress('https://github.com/a/b?x?private_token=y').url).toBe('https://github.com/a/b')
  })

  test.each([
    '',
    'lodash',
    'https://example.com/x',
    'https://github.com/only-owner',
    'https://github.com/../x',
    'https://github.com/a/b/tree/main/../../x',
    'https://github.com/a/b/blob/main/x.js',
    'git@github.com:a/b.git',
    'github.com/a/b',
    'https://github.com.evil.test/a/b',
    'https://evil.test/https://github.com/a/b',
    'https://npmjs.com/package/UPPER',
    'https://npmjs.com/package/a/b',
    'https://npmjs.com/package/../../x',
    'https://gitlab.com/alone',
    'https://gitlab.com/../x',
    'file:///etc',
    'ftp://github.com/a/b',
    `https://github.com/a/${'b'.repeat(800)}`,
  ])('%j is none', url => {
    expect(() => parseAddress(url)).toThrow(Problem)
  })
})

test.each([
  ['lodash', true],
  ['@posthog/geoip-plugin', true],
  ['lodash.merge', true],
  ['JSONStream', false],
  ['.hidden', false],
  ['_x', false],
  ['a b', false],
  ['@scope', false],
  ['@s/../x', false],
  ['x'.repeat(215), false],
  ['', false],
])('%s is an npm name: %s', (name, expected) => {
  expect(isNpmName(name)).toBe(expected)
})
