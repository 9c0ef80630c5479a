import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createGuardedClient } from '../../outgoing/guarded-client.ts'
import { createWorkerSandbox } from '../../sandbox/worker-sandbox.ts'
import { writeMmdb } from '../../testing/mmdb-builder.ts'
import { availableModules } from './guest/plugin-program.ts'
import { readConfigFields } from './package/config-field.ts'
import { defaultValues } from './package/config-values.ts'
import { type FetchedPackage, fetchPackage, type Origins } from './package/origins/fetch-package.ts'
import { createGitHubOrigin } from './package/origins/github-origin.ts'
import { createGitLabOrigin } from './package/origins/gitlab-origin.ts'
import { createNpmOrigin } from './package/origins/npm-origin.ts'
import { readNpmSettings } from './package/origins/npm-settings.ts'
import { inferCapabilities } from './runtime/infer-capabilities.ts'
import { openPluginRealm } from './runtime/plugin-realm.ts'
import { openGeoip } from './runtime/services/geoip.ts'
import { createRecordingServices } from './runtime/services/recording-services.ts'

/** Plugins that other people published, from the registry that this machine's npm client uses. They must be reachable. */

const settings = readNpmSettings(process.env, process.cwd())
const outgoing = createGuardedClient({ trustedOrigins: settings.origins })
const sandbox = createWorkerSandbox({ workersMax: 2 })
const origins: Origins = {
  npm: createNpmOrigin(outgoing, settings),
  github: createGitHubOrigin(outgoing),
  gitlab: createGitLabOrigin(outgoing),
}
const packages = new Map<string, FetchedPackage>()

const names = [
  'geoip-plugin',
  'heartbeat-plugin',
  'property-filter-plugin',
  'property-flattener-plugin',
  'semver-flattener-plugin',
  'shopify-sync-plugin',
  'taxonomy-plugin',
  'user-agent-app',
]

const fetchReal = (name: string, tag = '0.0.7') =>
  fetchPackage(origins, { host: 'npm', name, version: undefined }, tag, undefined, availableModules)

beforeAll(async () => {
  const fetched = names.map(async name => packages.set(name, await fetchReal(`@posthog/${name}`)))
  await Promise.all(fetched).catch(error => {
    throw new Error(`The npm registry ${settings.registryFor('@posthog/x').url} must be reachable: ${error.message}`)
  })
})
afterAll(() => Promise.all([sandbox.close(), outgoing.close()]))

const get = (name: string) => packages.get(name)!

async function process1(name: string, event: object, config: object = {}, services = createRecordingServices()) {
  const { manifest, code } = get(name)
  const realm = await openPluginRealm(sandbox, { name, code: code! }, services)
  try {
    const defaults = defaultValues(readConfigFields(manifest.configSchema))
    await realm.setup({ config: { ...defaults, ...config }, attachments: {} })
    return (await realm.call('processEvent', [event])).value as { event: string; properties: Record<string, unknown> }
  } finally {
    realm.close()
  }
}

async function openSampleDatabase() {
  const file = writeMmdb({
    '89.160.20.0/24': {
      city: { geoname_id: 2694762, names: { en: 'Linköping', 'pt-BR': 'Linköping' } },
      continent: { code: 'EU', geoname_id: 6255148, names: { en: 'Europe' } },
      country: { geoname_id: 2661886, is_in_european_union: true, iso_code: 'SE', names: { en: 'Sweden' } },
      location: { accuracy_radius: 76, latitude: 58.4167, longitude: 15.6167, time_zone: 'Europe/Stockholm' },
      postal: { code: '582 22' },
      subdivisions: [{ geoname_id: 2685867, iso_code: 'E', names: { en: 'Östergötland County' } }],
    },
  })
  try {
    return await openGeoip(file.path)
  } finally {
    file.remove()
  }
}

describe('what the packages say of themselves', () => {
  test.each([
    ['geoip-plugin', 'GeoIP', 'Enrich PostHog events and persons with IP location data', []],
    [
      'heartbeat-plugin',
      'PostHog Heartbeat Plugin',
      'Creates one event per minute',
      ['markdown_1', 'events', 'host', 'project_api_key'],
    ],
    ['property-filter-plugin', 'Property Filter', 'This plugin will set all configured', ['markdown_1', 'properties']],
    ['property-flattener-plugin', 'Property Flattener Plugin', 'Flatten event properties', ['separator']],
    ['semver-flattener-plugin', 'posthog-semver-flattener', '', ['markdown_1', 'properties']],
    ['shopify-sync-plugin', 'Posthog Shopify Plugin', 'Sync Shopify Events', ['shopifyStore', 'shopifyAccessToken']],
    ['taxonomy-plugin', 'Taxonomy Plugin', 'Standardize your event names', ['defaultNamingConvention']],
    [
      'user-agent-app',
      'User Agent Populator',
      'Enhances events',
      ['markdown_1', 'overrideUserAgentDetails', 'enableSegmentAnalyticsJs'],
    ],
  ])('%s', (name, title, description, fields) => {
    const { manifest, tag, files } = get(name)
    expect(tag).toBe('0.0.7')
    expect(manifest.name).toBe(title)
    expect((manifest.description ?? '').startsWith(description)).toBe(true)
    expect(Object.keys(manifest.configSchema)).toEqual(fields)
    expect(manifest.icon).toMatch(/^https:\/\/.*logo\.png$/)
    expect([...files.keys()]).toEqual(['plugin.json', 'index.ts'])
  })

  test('a secret is a secret', () => {
    const fields = readConfigFields(get('shopify-sync-plugin').manifest.configSchema)
    expect(fields.map(field => [field.key, field.secret])).toEqual([
      ['shopifyStore', false],
      ['shopifyAccessToken', true],
    ])
  })
})

test.each([
  ['geoip-plugin', ['processEvent'], []],
  ['heartbeat-plugin', [], ['runEveryMinute']],
  ['property-filter-plugin', ['setupPlugin', 'processEvent'], []],
  ['property-flattener-plugin', ['processEvent'], []],
  ['semver-flattener-plugin', ['processEvent'], []],
  ['shopify-sync-plugin', ['setupPlugin'], ['runEveryMinute']],
  ['taxonomy-plugin', ['processEvent'], []],
  ['user-agent-app', ['setupPlugin', 'processEvent'], []],
])('capabilities of %s', async (name, methods, scheduled_tasks) => {
  expect(await inferCapabilities(sandbox, name, get(name).code!)).toEqual({ methods, scheduled_tasks, jobs: [] })
})

describe('what they do', () => {
  test('property-flattener-plugin', async () => {
    const flatten = (properties: object, separator: string) =>
      process1('property-flattener-plugin', { event: 'x', properties }, { separator })
    const deep = { a: { b: { c: 1 } }, x: 2 }
    expect((await flatten(deep, '__')).properties).toEqual({ ...deep, a__b__c: 1 })
    expect((await flatten({ l: [{ z: 1 }] }, '.')).properties).toEqual({ l: [{ z: 1 }], 'l.0.z': 1 })
  })

  test.each([
    ['camelCase', 'userSignedUp', 'userSignedUp'],
    ['PascalCase', 'UserSignedUp', 'UserSignedUp'],
    ['snake_case', 'user_signed_up', 'user_signed_up'],
    ['kebab-case', 'user-signed-up', 'user-signed-up'],
    ['spaces in between', 'user signed up', 'user signed up'],
  ])('taxonomy-plugin in %s', async (defaultNamingConvention, spaced, camel) => {
    const rename = async (event: string) =>
      (await process1('taxonomy-plugin', { event }, { defaultNamingConvention })).event
    expect([await rename('user signed up'), await rename('userSignedUp'), await rename('$pageview')]).toEqual([
      spaced,
      camel,
      '$pageview',
    ])
  })

  test('semver-flattener-plugin', async () => {
    const event = { event: 'x', properties: { app_version: '1.2.3-rc.1+b5' } }
    const services = createRecordingServices()
    const { properties } = await process1('semver-flattener-plugin', event, { properties: 'app_version' }, services)
    expect(properties).toEqual({
      app_version: '1.2.3-rc.1+b5',
      app_version__major: 1,
      app_version__minor: 2,
      app_version__patch: 3,
      app_version__preRelease: 'rc.1',
      app_version__build: 'b5',
    })
    expect(services.lines).toEqual([
      { level: 'log', text: 'found candidate property:  app_version  matches  1.2.3-rc.1+b5' },
    ])
  })

  test('property-filter-plugin', async () => {
    const event = { event: 'x', ip: '1.2.3.4', properties: { foo: 1, $ip: '1.2.3.4', bar: 2 } }
    expect(await process1('property-filter-plugin', event, { properties: 'foo,$ip' })).toEqual({
      event: 'x',
      properties: { bar: 2 },
    })
  })

  test('user-agent-app', async () => {
    const $useragent =
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/96.0.4664.110 Safari/537.36'
    const { properties } = await process1('user-agent-app', { event: 'x', properties: { $useragent, a: 1 } })
    expect(properties).toEqual({
      a: 1,
      $browser: 'chrome',
      $browser_version: '96.0.4664',
      $os: 'Mac OS',
      $device: '',
      $device_type: 'Desktop',
      $browser_type: 'browser',
    })
  })

  test('geoip-plugin puts the place of an address into the event and the person', async () => {
    const locate = await openSampleDatabase()
    const event = { event: 'x', ip: '89.160.20.129', distinct_id: 'd', properties: { a: 1 } }
    const place = {
      city_name: 'Linköping',
      country_name: 'Sweden',
      country_code: 'SE',
      continent_name: 'Europe',
      continent_code: 'EU',
      postal_code: '582 22',
      latitude: 58.4167,
      longitude: 15.6167,
      time_zone: 'Europe/Stockholm',
      subdivision_1_code: 'E',
      subdivision_1_name: 'Östergötland County',
    }
    const prefixed = (prefix: string) =>
      Object.fromEntries(Object.entries(place).map(([key, value]) => [`${prefix}${key}`, value]))
    const services = createRecordingServices(undefined, locate)
    expect(await process1('geoip-plugin', event, {}, services)).toEqual({
      ...event,
      properties: { a: 1, ...prefixed('$geoip_') },
      $set: prefixed('$geoip_'),
      $set_once: prefixed('$initial_geoip_'),
    })
    // The person already has this address.
    const again = await process1('geoip-plugin', event, {}, services)
    expect(again).toEqual({ ...event, properties: { a: 1, ...prefixed('$geoip_') } })
  })

  test('geoip-plugin leaves events alone whose place is unknown', async () => {
    const located = createRecordingServices(undefined, await openSampleDatabase())
    const elsewhere = { event: 'x', ip: '89.160.21.1', distinct_id: 'd', properties: {} }
    expect(await process1('geoip-plugin', elsewhere, {}, located)).toEqual(elsewhere)
    const nowhere = { event: 'x', properties: {} }
    expect(await process1('geoip-plugin', nowhere, {}, located)).toEqual(nowhere)
    const withoutDatabase = { event: 'x', ip: '89.160.20.129', distinct_id: 'd', properties: {} }
    expect(await process1('geoip-plugin', withoutDatabase)).toEqual(withoutDatabase)
  })

  test('heartbeat-plugin captures its event', async () => {
    const services = createRecordingServices()
    const realm = await openPluginRealm(sandbox, { name: 'h', code: get('heartbeat-plugin').code! }, services)
    await realm.setup({ config: { events: 'heartbeat' }, attachments: {} })
    await realm.call('runEveryMinute', [])
    expect(services.captured.map(({ event }) => event)).toEqual(['heartbeat'])
    expect(services.lines[0]?.text).toMatch(/^Sent heartbeat at /)
    realm.close()
  })

  test('shopify-sync-plugin reads orders page by page and remembers them', async () => {
    const page = (n: number) =>
      JSON.stringify({ orders: [{ id: n, order_number: n, customer: { email: `${n}@x.y` } }] })
    const services = createRecordingServices(url => {
      const next = url.includes('page=2') ? {} : { link: '<https://s.myshopify.com/orders?page=2>; rel="next"' }
      return { status: 200, url, headers: next as Record<string, string>, text: page(url.includes('page=2') ? 2 : 1) }
    })
    const realm = await openPluginRealm(sandbox, { name: 's', code: get('shopify-sync-plugin').code! }, services)
    await realm.setup({ config: { shopifyStore: 's', shopifyAccessToken: 'secret' }, attachments: {} })
    await realm.call('runEveryMinute', [])
    expect(services.fetched[0]?.options.headers).toEqual({ 'x-shopify-access-token': 'secret' })
    expect(services.captured.map(({ event, properties }) => [event, properties.distinct_id])).toEqual([
      ['Created Shopify Customer', '1@x.y'],
      ['Created Shopify Order', '1@x.y'],
      ['Created Shopify Customer', '2@x.y'],
      ['Created Shopify Order', '2@x.y'],
    ])
    expect(services.stored.get('shopify-order-2')).toBe(true)
    realm.close()
  })
})

describe('packages that are no plugins', () => {
  test.each(['@posthog/plugin-scaffold', 'posthog-plugins', '@posthog/plugin-contrib'])('%s', async name => {
    await expect(fetchReal(name, 'latest')).rejects.toThrow('no plugin.json')
  })

  test.each(['@posthog/drop-events-on-property-plugin', 'posthog-plugin-hello-world'])('%s', async name => {
    await expect(fetchReal(name, 'latest')).rejects.toThrow('could not be looked up')
  })
})
