import { homedir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readNpmSettings } from './npm-settings.ts'

const read = (files: Record<string, string>) => (file: string) => files[file] ?? ''
const user = join(homedir(), '.npmrc')
const project = join('/app', '.npmrc')

test('without a setting npm is queried, once and only when it is needed', () => {
  let asked = 0
  const askNpm = () => {
    asked += 1
    return 'https://npm.test/'
  }
  const settings = readNpmSettings({}, '/app', read({}), askNpm)
  expect(asked).toBe(0)
  expect(settings.registryFor('x')).toEqual({ url: 'https://npm.test', token: undefined })
  expect(settings.origins).toEqual(['https://npm.test'])
  expect(asked).toBe(1)
})

test('the nearest setting wins', () => {
  const files = { '/etc/npmrc': 'registry=http://global/', [user]: 'registry = "http://user/" ', [project]: '' }
  const env = { npm_config_globalconfig: '/etc/npmrc' }
  const url = (more: Record<string, string>, extra: Record<string, string> = {}) =>
    readNpmSettings({ ...env, ...more }, '/app', read({ ...files, ...extra })).registryFor('x').url
  expect(url({}, { [user]: '' })).toBe('http://global')
  expect(url({})).toBe('http://user')
  expect(url({}, { [project]: '# registry=http://no\nregistry=http://project//' })).toBe('http://project')
  expect(url({ npm_config_registry: 'http://env/' })).toBe('http://env')
  expect(url({ npm_config_registry: 'http://env/', HALYARD_NPM_REGISTRY: 'http://ours/npm/' })).toBe('http://ours/npm')
})

test('a scope may have a registry and a token of its own', () => {
  const text = [
    '@a:registry=https://a.test/npm/',
    '//a.test/npm/:_authToken=$' + '{TOKEN}',
    'registry=https://npm.test/',
    '//npm.test/:_authToken=pub',
  ].join('\n')
  const settings = readNpmSettings({ TOKEN: 't' }, '/app', read({ [user]: text }))
  expect(settings.registryFor('@a/x')).toEqual({ url: 'https://a.test/npm', token: 't' })
  expect(settings.registryFor('@b/x')).toEqual({ url: 'https://npm.test', token: 'pub' })
  expect(settings.origins).toEqual(['https://npm.test', 'https://a.test'])
})
