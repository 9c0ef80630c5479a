import { afterAll, describe, expect, test } from 'vitest'
import { SandboxFailure } from '../../../sandbox/sandbox.ts'
import { createWorkerSandbox } from '../../../sandbox/worker-sandbox.ts'
import { compileSource } from '../package/compile-source.ts'
import { openPluginRealm } from '../runtime/plugin-realm.ts'
import { createRecordingServices } from '../runtime/services/recording-services.ts'
import { availableModules } from './plugin-program.ts'

const sandbox = createWorkerSandbox({ workersMax: 1 })
afterAll(() => sandbox.close())

async function load(source: string, services = createRecordingServices()) {
  const { code } = await compileSource(new Map([['index.ts', source]]), 'index.ts', availableModules)
  return openPluginRealm(sandbox, { name: 'test', code }, services)
}

async function describeSource(source: string) {
  const realm = await load(source)
  const capabilities = await realm.describe()
  realm.close()
  return capabilities
}

/** Runs the body of an async function inside of a plugin, with `meta` at hand. */
async function run(body: string, services = createRecordingServices(), config = {}): Promise<unknown> {
  const source = `export async function getSettings(meta) { ${body} }\nexport const jobs = { later() {}, soon() {} }`
  const realm = await load(source, services)
  try {
    await realm.setup({ config, attachments: {} })
    return (await realm.call('getSettings', [])).value
  } finally {
    realm.close()
  }
}

describe('capabilities', () => {
  const all = { methods: ['setupPlugin', 'processEvent'], scheduled_tasks: ['runEveryHour'], jobs: ['a'] }
  const body = 'setupPlugin() {}, processEvent(e) { return e }, runEveryHour() {}, jobs: { a() {}, b: 1 }, other() {}'
  test.each([
    [
      'named exports',
      'export function setupPlugin() {}; export const processEvent = e => e; export async function runEveryHour() {}; export const jobs = { a() {} }',
    ],
    ['a default export', `export default { ${body} }`],
    ['module.exports', `module.exports = { ${body} }`],
    [
      'exports',
      'exports.setupPlugin = () => {}; exports.processEvent = e => e; exports.runEveryHour = () => {}; exports.jobs = { a() {} }',
    ],
    [
      'top-level functions',
      'function setupPlugin() {}; const processEvent = e => e; function runEveryHour() {}; const jobs = { a() {} }',
    ],
    [
      'a class instance',
      'class P { setupPlugin() {} processEvent(e) { return e } }; const p = new P(); module.exports = { setupPlugin: p.setupPlugin, processEvent: p.processEvent, runEveryHour() {}, jobs: { a() {} } }',
    ],
  ])('are found in %s', async (_name, source) => {
    expect(await describeSource(source)).toEqual(all)
  })

  test('are listed in a fixed order, ours last, and only functions count', async () => {
    const source = `
      export const beforeFlagSave = () => {}, getSettings = () => {}, onEvent = () => {}, teardownPlugin = () => {}
      export const composeWebhook = () => {}, onFlagChange = () => {}, setupPlugin = 5, runEveryDay = 'no', unknown = () => {}`
    expect(await describeSource(source)).toEqual({
      methods: ['teardownPlugin', 'onEvent', 'composeWebhook', 'getSettings', 'onFlagChange', 'beforeFlagSave'],
      scheduled_tasks: [],
      jobs: [],
    })
  })

  test('count a batch function as processEvent, and run it as such', async () => {
    const realm = await load(
      'export const processEventBatch = (events, meta) => events.map(e => ({ ...e, n: meta.config.n }))',
    )
    expect((await realm.describe()).methods).toEqual(['processEvent'])
    await realm.setup({ config: { n: 7 }, attachments: {} })
    expect((await realm.call('processEvent', [{ event: 'x' }])).value).toEqual({ event: 'x', n: 7 })
    realm.close()
  })

  test('are empty for code that offers nothing', async () => {
    expect(await describeSource('const a = 1')).toEqual({ methods: [], scheduled_tasks: [], jobs: [] })
  })
})

describe('meta', () => {
  test('has the configuration, attachments and a memory of its own', async () => {
    const realm = await load(`
      export function setupPlugin({ config, global, attachments }) {
        global.greeting = config.word + String.fromCharCode(...attachments.file.contents) + attachments.file.file_name
      }
      export const getSettings = ({ global }) => global`)
    const file = { content_type: 'text/plain', file_name: 'f.txt', contents_base64: btoa('!') }
    await realm.setup({ config: { word: 'hello' }, attachments: { file } })
    expect((await realm.call('getSettings', [])).value).toEqual({ greeting: 'hello!f.txt' })
    realm.close()
  })

  test('has storage', async () => {
    const services = createRecordingServices()
    const body = `
      await meta.storage.set('a', { n: 1 })
      await meta.storage.set('b', 2)
      await meta.storage.set('b', undefined)
      return [await meta.storage.get('a'), await meta.storage.get('b', 'none')]`
    expect(await run(body, services)).toEqual([{ n: 1 }, 'none'])
    expect([...services.stored]).toEqual([['a', { n: 1 }]])
  })

  test('has a cache', async () => {
    const body = `
      await meta.cache.set('k', [1], 60)
      await meta.cache.lpush('l', 'x')
      await meta.utils.cursor.init('c', 5)
      return [await meta.cache.get('k'), await meta.cache.get('none', 3), await meta.cache.incr('n'),
        await meta.cache.lrange('l', 0, 1), await meta.utils.cursor.increment('c', 2)]`
    expect(await run(body)).toEqual([[1], 3, 1, ['x'], 7])
  })

  test('plans jobs', async () => {
    const services = createRecordingServices()
    const before = Date.now()
    await run(
      `await meta.jobs.later({ n: 1 }).runIn(2, 'minutes')
       await meta.jobs.later().runIn(1, 'hour')
       await meta.jobs.soon({}).runAt('2001-01-01')
       await meta.jobs.soon({}).runNow()`,
      services,
    )
    expect(services.jobs.map(({ name, payload }) => [name, payload])).toEqual([
      ['later', { n: 1 }],
      ['later', {}],
      ['soon', {}],
      ['soon', {}],
    ])
    expect(services.jobs[0]!.at.getTime()).toBeGreaterThanOrEqual(before + 120_000)
    expect(services.jobs[1]!.at.getTime()).toBeGreaterThanOrEqual(before + 3_600_000)
    expect(services.jobs[2]!.at.getTime()).toBeGreaterThanOrEqual(before)
    await expect(run("return meta.jobs.later({}).runIn(1, 'fortnights')")).rejects.toThrow(
      'Unknown unit of time: fortnights',
    )
    await expect(run("return meta.jobs.later({}).runIn(2, 'years')")).rejects.toThrow('more than a year ahead')
  })

  test('looks addresses up, and finds nothing without a database', async () => {
    const locate = "return [await meta.geoip.locate('1.1.1.1'), await meta.geoip.locate(null)]"
    const services = createRecordingServices(undefined, address => (address === '1.1.1.1' ? { city: {} } : null))
    expect(await run(locate, services)).toEqual([{ city: {} }, null])
    expect(await run(locate)).toEqual([null, null])
  })
})

describe('globals', () => {
  test('console writes to the log', async () => {
    const services = createRecordingServices()
    await run(
      "console.log('a', { b: 1 }, [null], undefined); console.error(new Error('bad')); console.debug(1n)",
      services,
    )
    expect(services.lines[0]).toEqual({ level: 'log', text: 'a {"b":1} [null] undefined' })
    expect(services.lines[1]).toMatchObject({ level: 'error', text: expect.stringContaining('Error: bad') })
    expect(services.lines[2]).toEqual({ level: 'debug', text: '1' })
  })

  test('fetch asks the host and answers like fetch', async () => {
    const services = createRecordingServices(url => ({ status: 201, url, headers: { 'x-a': 'b' }, text: '{"n":1}' }))
    const body = `
      const answer = await fetch('https://x.test/', { method: 'POST', headers: { 'X-Key': 1 }, body: 'data' })
      return [answer.ok, answer.status, answer.headers.get('X-A'), answer.headers.has('none'), await answer.json()]`
    expect(await run(body, services)).toEqual([true, 201, 'b', false, { n: 1 }])
    const options = { method: 'POST', headers: { 'x-key': '1' }, body: 'data' }
    expect(services.fetched).toEqual([{ url: 'https://x.test/', options }])
    await expect(run("return fetch('https://x.test/')")).rejects.toThrow('x.test is not an allowed host.')
  })

  test('posthog captures events', async () => {
    const services = createRecordingServices()
    await run("await posthog.capture('seen', { n: 1 })", services)
    expect(services.captured).toEqual([{ event: 'seen', properties: { n: 1 } }])
  })

  test('posthog.api asks with a key that the plugin has', async () => {
    const services = createRecordingServices()
    const options = "{ data: { a: 1 }, headers: { 'x-y': 'z' }, personalApiKey: 'phx_1' }"
    expect(await run(`return (await posthog.api.post('/api/x/', ${options})).json()`, services)).toEqual({})
    const sent = { method: 'POST', headers: { 'x-y': 'z' }, body: '{"a":1}' }
    expect(services.fetched).toEqual([{ url: '/api/x/', options: sent }])
    await expect(run("return posthog.api.get('/api/x/')")).rejects.toThrow('needs a personalApiKey')
  })

  test('URL and URLSearchParams work', async () => {
    const body = `
      const url = new URL('../b?x=1&y=a%20b', 'https://u:p@h.test:8443/a/c')
      url.searchParams.append('z', 'é&')
      url.hash = 'top'
      const query = new URLSearchParams({ a: 1, b: 'c d' })
      query.delete('a')
      return [url.href, url.host, url.searchParams.get('y'), String(query), [...new URLSearchParams('a=1&a=2').getAll('a')],
        JSON.stringify({ url })]`
    const href = 'https://u:p@h.test:8443/b?x=1&y=a+b&z=%C3%A9%26#top'
    expect(await run(body)).toEqual([href, 'h.test:8443', 'a b', 'b=c+d', ['1', '2'], JSON.stringify({ url: href })])
    await expect(run("new URL('nope')")).rejects.toThrow('Invalid URL: nope')
  })

  test('a RetryError keeps its name', async () => {
    const failure = await run("throw new RetryError('later')").catch((error: SandboxFailure) => error)
    expect(failure).toBeInstanceOf(SandboxFailure)
    expect((failure as SandboxFailure).guest).toMatchObject({ name: 'RetryError', message: 'later' })
  })

  test('nothing of ours is left lying about', async () => {
    expect(await run('return [typeof host, typeof halyard, typeof globalThis.guest]')).toEqual(
      Array(3).fill('undefined'),
    )
  })
})

describe('modules', () => {
  test('crypto hashes', async () => {
    const source = `
      import { createHash, createHmac, randomUUID } from 'crypto'
      import { RetryError } from '@posthog/plugin-scaffold'
      import { URL as U } from 'node:url'
      export const getSettings = () => [
        createHash('sha256').update('a').update('b').digest('hex'),
        createHmac('sha1', 'key').update('data').digest('base64'),
        Array.from(createHash('md5').update(new Uint8Array([1, 2])).digest()).length,
        /^[0-9a-f-]{36}$/.test(randomUUID()),
        new RetryError('x').name, new U('http://a').href]`
    const realm = await load(source)
    expect((await realm.call('getSettings', [])).value).toEqual([
      'fb8e20fc2e4c3f248c60c39bd652f3c1347298bb977b8b4d5903b85055620603',
      'EEFSxb/coHvGM+69RhmfAlXJ9J0=',
      16,
      true,
      'RetryError',
      'http://a/',
    ])
    realm.close()
  })

  test('nothing else can be required, not even in disguise', async () => {
    await expect(run("return require(['f', 's'].join(''))")).rejects.toThrow('The package "fs" is not available')
    await expect(run("return require('__proto__'.toString())")).rejects.toThrow('not available')
  })
})

test('jobs run by name, and only those there are', async () => {
  const realm = await load('export const jobs = { add: async ({ a, b }, { config }) => a + b + config.c }')
  await realm.setup({ config: { c: 3 }, attachments: {} })
  expect((await realm.runJob('add', { a: 1, b: 2 })).value).toBe(6)
  await expect(realm.runJob('constructor', {})).rejects.toThrow('There is no job constructor.')
  realm.close()
})
