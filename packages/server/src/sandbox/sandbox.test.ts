import { afterAll, describe, expect, test } from 'vitest'
import type { SandboxHost, SandboxLimits, SandboxLogLine, SandboxRealm } from './sandbox.ts'
import { SandboxFailure } from './sandbox.ts'
import { createWorkerSandbox } from './worker-sandbox.ts'

const sandbox = createWorkerSandbox({ workersMax: 2 })
afterAll(() => sandbox.close())

const noHost: SandboxHost = { call: async name => Promise.reject(new Error(`no ${name}`)), log: () => {} }
const quick: Partial<SandboxLimits> = { cpuMsMax: 150 }

function open(text: string, host: SandboxHost = noHost, limits: Partial<SandboxLimits> = quick): Promise<SandboxRealm> {
  return sandbox.open({ name: 'test', scripts: [{ fileName: 'test.js', text }] }, host, limits)
}

async function run(body: string, host?: SandboxHost, limits?: Partial<SandboxLimits>): Promise<unknown> {
  const realm = await open(`async request => { ${body} }`, host, limits)
  try {
    return (await realm.call({ n: 1 })).value
  } finally {
    realm.close()
  }
}

async function failureOf(work: Promise<unknown>): Promise<SandboxFailure> {
  const error = await work.then(
    () => new Error('It did not fail.'),
    reason => reason,
  )
  if (error instanceof SandboxFailure) return error
  throw error
}

describe('a realm', () => {
  test('answers with what the program makes of a request', async () => {
    expect(await run('return { got: request, list: [1, "é", null] }')).toEqual({ got: { n: 1 }, list: [1, 'é', null] })
  })

  test('answers null for undefined and for functions', async () => {
    expect(await run('return undefined')).toBeNull()
    expect(await run('return () => 1')).toBeNull()
  })

  test('keeps its state between calls and runs calls one after the other', async () => {
    const realm = await open('let n = 0; async () => { const mine = ++n; await host.call("wait"); return [mine, n] }', {
      call: async () => null,
      log: () => {},
    })
    const answers = await Promise.all([realm.call(0), realm.call(0), realm.call(0)])
    expect(answers.map(answer => answer.value)).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ])
    realm.close()
  })

  test('bounds what the host calls of one call carry, and gives the next call a new budget', async () => {
    const started: number[] = []
    const host = { call: async () => 'x'.repeat(900), callStarted: () => started.push(1), log: () => {} }
    const code = `async () => {
      for (let n = 0; n < 100; n++) try { await host.call('a') } catch (error) { return [n, error.message] }
    }`
    const realm = await open(code, host, { ...quick, hostCharactersMax: 10_000 })
    const expected = [11, 'This call has used up its exchange with the host.']
    expect((await realm.call(null)).value).toEqual(expected)
    expect((await realm.call(null)).value).toEqual(expected)
    expect(started).toHaveLength(3)
    realm.close()
  })

  test('reports how long the code ran and how much memory it holds', async () => {
    const realm = await open('() => 1')
    const answer = await realm.call(null)
    expect(answer.cpuMs).toBeGreaterThan(0)
    expect(answer.memoryBytes).toBeGreaterThan(10_000)
    realm.close()
  })

  test('hands the guest its own error back', async () => {
    const failure = await failureOf(run('throw new TypeError("no such thing")'))
    expect(failure.kind).toBe('threw')
    expect(failure.guest).toMatchObject({ name: 'TypeError', message: 'no such thing' })
    expect(failure.guest?.stack).toContain('test.js')
  })

  test.each([
    ['throw "text"', 'text'],
    ['throw null', 'null'],
    ['throw Object.create(null)', ''],
    ['throw { toString() { throw 1 } }', ''],
    ['throw Symbol("s")', 'Symbol(s)'],
    ['return 1n', 'BigInt'],
    ['const a = {}; a.a = a; return a', 'circular'],
  ])('survives an odd end of a call: %s', async (body, message) => {
    const failure = await failureOf(run(body))
    expect(failure.kind).toBe('threw')
    expect(failure.message).toContain(message)
  })

  test('goes on after a call that threw', async () => {
    const realm = await open('request => { if (request === "throw") throw new Error("x"); return request }')
    expect((await failureOf(realm.call('throw'))).kind).toBe('threw')
    expect(realm.lost).toBe(false)
    expect((await realm.call('again')).value).toBe('again')
    realm.close()
  })

  test('refuses a program that does not load, and says why', async () => {
    expect((await failureOf(open('this is no program'))).guest?.name).toBe('SyntaxError')
    expect((await failureOf(open('throw new Error("at load")'))).message).toBe('at load')
    expect((await failureOf(open('42'))).message).toContain('dispatcher')
  })

  test('fails calls once it is closed', async () => {
    const realm = await open('() => new Promise(() => {})')
    const call = failureOf(realm.call(1))
    realm.close()
    expect((await call).kind).toBe('closed')
    expect((await failureOf(realm.call(1))).kind).toBe('closed')
  })
})

describe('the host', () => {
  test('answers calls of the guest and gets their arguments as JSON values', async () => {
    const seen: unknown[] = []
    const host: SandboxHost = {
      call: async (name, args) => {
        seen.push([name, args])
        return { ok: true }
      },
      log: () => {},
    }
    expect(await run('return await host.call("storage.set", "key", { a: [1] })', host)).toEqual({ ok: true })
    expect(seen).toEqual([['storage.set', ['key', { a: [1] }]]])
  })

  test('rejects with its message and nothing else of the error', async () => {
    const host: SandboxHost = { call: async () => Promise.reject(new RangeError('not today')), log: () => {} }
    const answer = await run(
      'try { await host.call("x") } catch (e) { return [e.message, e.name, String(e.stack)] }',
      host,
    )
    const [message, name, stack] = answer as string[]
    expect([message, name]).toEqual(['not today', 'Error'])
    expect(stack).not.toMatch(/\.ts|node:/)
  })

  test('gets log lines with their level, cut and counted', async () => {
    const lines: SandboxLogLine[] = []
    const host: SandboxHost = { call: noHost.call, log: more => lines.push(...more) }
    await run('host.log("warn", "one"); host.log("shout", "x".repeat(9999)); return 0', host)
    expect(lines[0]).toEqual({ level: 'warn', text: 'one' })
    expect(lines[1]?.level).toBe('log')
    expect(lines[1]?.text).toHaveLength(4097)
  })

  test('offers pure functions at once', async () => {
    expect(await run('return host.compute("url", "/b?c=1", "http://x.y:81/a").href')).toBe('http://x.y:81/b?c=1')
    expect(await run('return host.compute("hash", "sha256", "")')).toBe('47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=')
    expect((await failureOf(run('host.compute("url", "nope")'))).message).toBe('Invalid URL: nope')
    expect((await failureOf(run('host.compute("exec", "ls")'))).message).toBe('There is no function exec.')
  })
})

describe('hostile code', () => {
  const endless: [string, string][] = [
    ['an endless loop', 'while (true) {}'],
    ['a loop that catches everything', 'while (true) { try { while (true) {} } catch {} finally {} }'],
    ['a regular expression that backtracks', 'return /^(a+)+$/.test("a".repeat(40) + "b")'],
    ['a flood of promises', 'const f = () => { Promise.resolve().then(f); Promise.resolve().then(f) }; f()'],
    ['an endless chain of awaits', 'while (true) await 0'],
    ['an endless generator', 'function* g() { while (true) yield 1 }; for (const x of g()) {}'],
    ['a hostile toString', 'host.log({ toString() { while (true); } }, "")'],
    ['a hostile toJSON', 'return { toJSON() { while (true); } }'],
    ['a hostile getter on an error', 'throw { get message() { while (true); } }'],
    ['code made from text', 'new Function("while (true) {}")()'],
    ['a proxy without end', 'const p = new Proxy({}, { get: () => p, has: () => true }); while (p.a.b) {}'],
    ['a recursion that catches its overflow', 'const f = () => { try { f() } catch { f() } }; f()'],
    ['a then of its own', 'return { then() { while (true); } }'],
    ['a sort that never agrees', 'while (true) [3, 1, 2].sort(() => Math.random() - 0.5)'],
  ]
  test.each(endless)('is stopped when it runs too long: %s', async (_name, body) => {
    expect((await failureOf(run(body))).kind).toBe('cpu')
  })

  const unpolled: [string, string][] = [
    ['reverse of an endless list', 'Array.prototype.reverse.call({ length: 2 ** 53 - 1 })'],
    ['a search in a long text', '"a".repeat(1.5e7).indexOf("a".repeat(7e6) + "b")'],
  ]
  test.each(unpolled)('costs its worker when the engine itself does not stop: %s', async (_name, body) => {
    expect((await failureOf(run(body))).kind).toBe('cpu')
    expect(await run('return "others go on"')).toBe('others go on')
  })

  // Memory, not time, is what has to stop these, however slow the machine is.
  const patient = { cpuMsMax: 50_000, wallMsMax: 50_000 }
  const memoryBombs: [string, string][] = [
    ['arrays', 'const a = []; while (true) a.push(new Array(1000).fill(1))'],
    ['array buffers', 'const a = []; while (true) a.push(new ArrayBuffer(1 << 20))'],
    ['a doubling string', 'let s = "x"; while (true) s += s'],
    ['a repeated string', '"x".repeat(2 ** 29)'],
    ['a map', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, i)'],
    ['objects', 'let o = {}; while (true) o = { o, p: [o] }'],
    ['closures', 'const fs = []; for (;;) { const x = new Array(100).fill(0); fs.push(() => x) }'],
  ]
  test.each(memoryBombs)('is stopped when it takes too much memory: %s', async (_name, body) => {
    expect((await failureOf(run(body, noHost, patient))).kind).toBe('memory')
  })

  test.each(['new ArrayBuffer(2 ** 31)', 'new Float64Array(2 ** 28)', 'let n = 3n; while (true) n = n * n'])(
    'gets a RangeError for what could never fit: %s',
    async body => {
      expect((await failureOf(run(body, noHost, patient))).guest?.name).toBe('RangeError')
    },
  )

  test('is stopped when it recurses without end', async () => {
    const failure = await failureOf(run('const f = () => f() + 1; f()'))
    expect(failure.kind).toBe('threw')
    expect(failure.guest?.name).toBe('RangeError')
    const nested = 'let a = []; for (let i = 0; i < 50000; i++) a = [a]; return JSON.stringify(a)'
    expect(['threw', 'crash', 'cpu']).toContain(
      (await failureOf(run(nested, noHost, { cpuMsMax: 2_000, wallMsMax: 60_000 }))).kind,
    )
  })

  test('is stopped when it never answers', async () => {
    const realm = await open('() => new Promise(() => {})')
    expect((await failureOf(realm.call(1, { wallMsMax: 50 }))).kind).toBe('wall_clock')
    expect(realm.lost).toBe(true)
  })

  test('cannot go on after it was stopped', async () => {
    const realm = await open('request => { while (request === "loop") {} return 1 }')
    const [first, second] = await Promise.all([failureOf(realm.call('loop')), failureOf(realm.call('next'))])
    expect(first.kind).toBe('cpu')
    expect(second.kind).toBe('cpu')
    expect(realm.lost).toBe(true)
  })

  test('is stopped when it goes on in the background after its answer', async () => {
    const realm = await open('() => { const f = () => Promise.resolve().then(f); host.call("x").catch(f); return 1 }')
    await realm.call(1)
    expect((await failureOf(realm.call(1))).kind).toBe('cpu')
  })

  test('cannot flood the host with calls', async () => {
    let calls = 0
    const host: SandboxHost = {
      call: async () => {
        calls += 1
        return null
      },
      log: () => {},
    }
    const limits = { ...quick, hostCallsMax: 50, hostCallsPendingMax: 10 }
    const pending = 'const all = []; while (true) all.push(host.call("x")); return all'
    expect((await failureOf(run(pending, host, limits))).kind).not.toBe('wall_clock')
    const refused = 'let n = 0; try { while (true) { await host.call("x"); n++ } } catch (e) { return [n, e.message] }'
    expect(await run(refused, host, limits)).toEqual([50, 'This call has used up its calls to the host.'])
    expect(calls).toBeLessThanOrEqual(60)
  })

  test('cannot flood the log', async () => {
    const lines: SandboxLogLine[] = []
    const host: SandboxHost = { call: noHost.call, log: more => lines.push(...more) }
    await run('for (let i = 0; i < 10000; i++) host.log("log", i); return 1', host, { cpuMsMax: 5_000 })
    expect(lines).toHaveLength(101)
    expect(lines.at(-1)?.text).toBe('Further lines of this call are left out.')
  })

  test('cannot send more than a message may hold', async () => {
    const limits = { ...quick, messageCharactersMax: 1_000 }
    expect((await failureOf(run('return "x".repeat(1001)', noHost, limits))).kind).toBe('size')
    expect((await failureOf(run('await host.call("x", "x".repeat(1001))', noHost, limits))).message).toContain(
      'too large',
    )
    const host: SandboxHost = { call: async () => 'x'.repeat(1_001), log: () => {} }
    expect((await failureOf(run('await host.call("x")', host, limits))).message).toBe('The answer is too large.')
    const realm = await open('() => 1', noHost, limits)
    expect((await failureOf(realm.call('x'.repeat(1_001)))).kind).toBe('size')
    realm.close()
  })

  const reaches: [string, string][] = [
    ['process', 'return typeof process'],
    ['require', 'return typeof require'],
    ['fetch', 'return typeof fetch'],
    ['setTimeout', 'return typeof setTimeout'],
    ['Buffer', 'return typeof Buffer'],
    ['WebAssembly', 'return typeof WebAssembly'],
    ['what the worker was started with', 'return typeof workerData'],
    ['the global object of the host', 'return typeof (function () { return this })().process'],
    ['the host through a constructor', 'return typeof host.call.constructor.constructor("return this")().process'],
    [
      'the host through an error',
      'try { host.compute("x") } catch (e) { return typeof e.constructor.constructor("return process")() }',
    ],
    ['a module', 'return await import("node:fs").then(() => "reached", e => "undefined")'],
  ]
  test.each(reaches)('finds nothing of the host: %s', async (_name, body) => {
    const answer = await run(
      `try { ${body} } catch (e) { return e instanceof ReferenceError ? "undefined" : String(e) }`,
    )
    expect(answer).toBe('undefined')
  })

  test('spoils only its own realm when it changes prototypes', async () => {
    const body = `
      Object.prototype.polluted = "yes"
      Array.prototype.map = () => "stolen"
      JSON.parse = () => "stolen"
      Promise.prototype.then = Promise.prototype.then
      return JSON.parse("1")`
    expect(await run(body)).toBe('stolen')
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(await run('return [typeof ({}).polluted, [1].map(n => n + 1), JSON.parse("2")]')).toEqual([
      'undefined',
      [2],
      2,
    ])
  })

  test('cannot pollute the host with an answer', async () => {
    const answer = (await run('return JSON.parse(`{"__proto__": {"polluted": 1}, "constructor": 2}`)')) as object
    expect(Object.getPrototypeOf(answer)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('leaves other realms of the same worker alone when it is stopped by the engine', async () => {
    const single = createWorkerSandbox({ workersMax: 1 })
    const scripts = (text: string) => ({ name: 'x', scripts: [{ fileName: 'x.js', text }] })
    const good = await single.open(scripts('let n = 0; () => ++n'), noHost, quick)
    await good.call(0)
    const bad = await single.open(scripts('() => { while (true) {} }'), noHost, quick)
    expect((await failureOf(bad.call(0))).kind).toBe('cpu')
    expect((await good.call(0)).value).toBe(2)
    await single.close()
  })

  test('fails the other realms of its worker when the worker had to be replaced', async () => {
    const single = createWorkerSandbox({ workersMax: 1, silenceMsMax: 100 })
    const scripts = (text: string) => ({ name: 'x', scripts: [{ fileName: 'x.js', text }] })
    const good = await single.open(scripts('() => 1'), noHost, quick)
    const bad = await single.open(scripts('() => Array.prototype.reverse.call({ length: 2 ** 53 - 1 })'), noHost, quick)
    const [blamed, neighbor] = await Promise.all([
      failureOf(bad.call(0)),
      failureOf(good.call(0).then(() => good.call(0))),
    ])
    expect(blamed.kind).toBe('cpu')
    expect(neighbor.kind).toBe('neighbor')
    const again = await single.open(scripts('() => 2'), noHost, quick)
    expect((await again.call(0)).value).toBe(2)
    await single.close()
  })
})

test('a closed sandbox fails what is under way and opens nothing more', async () => {
  const other = createWorkerSandbox({ workersMax: 1 })
  const program = { name: 'x', scripts: [{ fileName: 'x.js', text: '() => new Promise(() => {})' }] }
  const realm = await other.open(program, noHost)
  const call = failureOf(realm.call(1))
  await other.close()
  expect((await call).kind).toBe('closed')
  expect((await failureOf(other.open(program, noHost))).kind).toBe('closed')
})
