import { once } from 'node:events'
import { connect } from 'node:net'
import { beforeAll, expect, it, vi } from 'vitest'
import { createTestDatabase } from '../../packages/server/src/testing/databases.ts'
import { onEachPath } from '../../packages/server/src/testing/paths.ts'
import { suiteScenario } from '../../packages/server/src/testing/suite-scenario.ts'
import { runCommand, startServer } from '../faults/server-process.ts'

const patience = { timeout: 20_000, interval: 50 }
onEachPath('hostile clients', environment => {
  const s = suiteScenario('sqlite', { environment: { ...environment, HALYARD_BODY_BYTES_MAX: '100000' } })
  beforeAll(() => {
    // As in production, only sooner.
    s.halyard.app.server.headersTimeout = 300
    s.halyard.app.server.requestTimeout = 600
  })

  /** Sends bytes as they are and collects what comes back until the server closes or `isEnough` says so. */
  function raw(bytes: string | Buffer, isEnough: (text: string) => boolean = () => false): Promise<string> {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(new URL(s.url).port), '127.0.0.1')
      let text = ''
      socket.on('connect', () => socket.write(bytes))
      socket.on('data', data => {
        text += data.toString('latin1')
        if (isEnough(text)) {
          socket.destroy()
          resolve(text)
        }
      })
      socket.on('close', () => resolve(text))
      socket.on('error', error => (text ? resolve(text) : reject(error)))
    })
  }

  const answers = (text: string): number => text.match(/HTTP\/1\.1 \d{3}/g)?.length ?? 0

  it('serves others while slow clients dribble their headers, and disconnects those', async () => {
    const slow = Array.from({ length: 60 }, () => raw('GET /_livez HTTP/1.1\r\nHost: x\r\nX-Slow: '))
    expect((await s.get('/_livez')).status).toBe(200)
    for (const text of await Promise.all(slow)) expect(text).toMatch(/^HTTP\/1\.1 408/)
  })

  it('disconnects a body that never ends and a connection that is silent', async () => {
    const head = `POST ${s.project}/feature_flags/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${s.key}\r\nContent-Type: application/json\r\nContent-Length: 90000\r\n\r\n`
    const [body, nothing] = await Promise.all([raw(`${head}{"key":`), raw('\r\n')])
    expect(body).toMatch(/^HTTP\/1\.1 408/)
    expect(nothing).toMatch(/^(HTTP\/1\.1 408|$)/)
    expect((await s.get(`${s.project}/feature_flags/`)).body.count).toBe(0)
  })

  it('refuses bodies that are too large, whether they say so or not', async () => {
    const head = `POST ${s.project}/feature_flags/ HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${s.key}\r\nContent-Type: application/json\r\n`
    const said = await raw(`${head}Content-Length: 100000000\r\n\r\n{`, text => text.includes('\r\n\r\n'))
    expect(said).toMatch(/^HTTP\/1\.1 413/)
    const chunk = `${(50_000).toString(16)}\r\n${'x'.repeat(50_000)}\r\n`
    const unsaid = await raw(`${head}Transfer-Encoding: chunked\r\n\r\n${chunk.repeat(4)}`, text =>
      text.includes('\r\n\r\n'),
    )
    expect(unsaid).toMatch(/^HTTP\/1\.1 413/)
  })

  it('refuses headers without end', async () => {
    expect(await raw(`GET /_livez HTTP/1.1\r\nHost: x\r\nX-Long: ${'y'.repeat(100_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1\.1 431/,
    )
  })

  it('refuses requests that two parsers could read differently', async () => {
    const smuggled = 'GET /api/users/@me/ HTTP/1.1\r\nHost: x\r\n\r\n'
    const attempts = {
      'length and chunks': `POST /api/login/ HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${smuggled}`,
      'two lengths': `POST /api/login/ HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello${smuggled}`,
      'space before the colon': `POST /api/login/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n${smuggled}`,
      'unknown coding': `POST /api/login/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${smuggled}`,
      'a coding before the chunks': `POST /api/login/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity, chunked\r\n\r\n0\r\n\r\n${smuggled}`,
      'a folded header': `POST /api/login/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${smuggled}`,
      'lines that end with LF alone': `POST /api/login/ HTTP/1.1\r\nHost: x\nContent-Length: 2\r\n\r\n{}${smuggled}`,
      'a chunk extension over two lines': `POST /api/login/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;\nx\r\n{}\r\n0\r\n\r\n${smuggled}`,
      'bad chunk size': `POST /api/login/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0x5\r\nhello\r\n0\r\n\r\n${smuggled}`,
      'negative length': `POST /api/login/ HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n${smuggled}`,
      'control characters in a header': `GET /_livez HTTP/1.1\r\nHost: x\r\nX-A: b\u0000c\r\n\r\n${smuggled}`,
      'two hosts': `GET /_livez HTTP/1.1\r\nHost: x\r\nhost: y\r\n\r\n${smuggled}`,
      'no version': `GET /_livez\r\n\r\n${smuggled}`,
    }
    for (const [name, bytes] of Object.entries(attempts)) {
      const text = await raw(bytes)
      expect(text, name).toMatch(/^HTTP\/1\.1 400/)
      expect(answers(text), name).toBe(1)
    }
  })

  it('responds to HEAD of a stream, a repeated parameter and an unknown expectation', async () => {
    const streams = ['/ofrep/v1/stream/', '/api/changes/stream/', `${s.project}/feature_flags/stream/`]
    const headers = { authorization: `Bearer ${s.key}` }
    for (const path of streams) {
      const head = await fetch(s.url + path, { method: 'HEAD', headers })
      expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
      const twice = await fetch(`${s.url}${path}?token=a&token=b`, { headers })
      expect(twice.status, path).toBeLessThan(500)
      await twice.body?.cancel()
    }
    const expecting = await raw('GET /_livez HTTP/1.1\r\nHost: x\r\nExpect: a-pony\r\nConnection: close\r\n\r\n')
    expect(expecting).toMatch(/^HTTP\/1\.1 200/)
  })

  it('reads a request that arrived in time, however late the event loop is', async () => {
    const taken = once(s.halyard.app.server, 'connection')
    const socket = connect(Number(new URL(s.url).port), '127.0.0.1')
    const answer = once(socket, 'data') as Promise<[Buffer]>
    await taken
    socket.write('GET /_livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    // Nothing is read meanwhile, and the time for the headers passes.
    for (const until = performance.now() + 2 * s.halyard.app.server.headersTimeout; performance.now() < until; );
    // Node checks its timeout before it reads.
    expect(String((await answer)[0])).toMatch(/^HTTP\/1\.1 (200|408)/)
  })

  it('closes a connection after a refused upgrade', async () => {
    const upgrade = `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n`
    const text = await raw(
      `POST /api/login/ HTTP/1.1\r\nHost: x\r\n${upgrade}Content-Length: 2\r\n\r\n{}GET /_livez HTTP/1.1\r\nHost: x\r\n\r\n`,
    )
    expect(text).toMatch(/^HTTP\/1\.1 4/)
    expect(text).toMatch(/connection: close/i)
  })

  it('never lets a request inject a response header', async () => {
    for (const path of [
      '/%0d%0aX-Injected:%20yes',
      '/api/projects/%0d%0aX-Injected:%20yes/',
      '/flags/?x=%0d%0aX-Injected:%20yes',
    ]) {
      const text = await raw(`GET ${path} HTTP/1.1\r\nHost: x\r\nX-Request-Id: a\tb\r\nConnection: close\r\n\r\n`)
      expect(text.split('\r\n\r\n')[0]).not.toMatch(/x-injected/i)
    }
  })

  it('responds to pipelined requests in order, and drops a client that disconnects', async () => {
    const request = 'GET /_livez HTTP/1.1\r\nHost: x\r\n\r\n'
    const text = await raw(request.repeat(50), got => answers(got) === 50)
    expect(answers(text)).toBe(50)
    await Promise.all(Array.from({ length: 50 }, () => raw(request, got => got.length > 0)))
    await vi.waitFor(async () => {
      const open = await new Promise<number>(resolve =>
        s.halyard.app.server.getConnections((_error, count) => resolve(count)),
      )
      expect(open).toBeLessThan(20)
    }, patience)
  })

  it('never writes a key, a password or a secret to its log or into an error', async () => {
    const database = await createTestDatabase('sqlite')
    const server = await startServer(database.url, { LOG_LEVEL: 'trace' })
    const secrets: string[] = [
      'phx_faultsfaultsfaultsfaultsfaults',
      'not-my-password-7351',
      'phx_wrongwrongwrongwrongwrong',
    ]
    const ask = async (path: string, method = 'GET', body?: unknown, key = 'phx_faultsfaultsfaultsfaultsfaults') => {
      const response = await fetch(server.url + path, {
        method,
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      if (response.status >= 400) for (const secret of secrets) expect(text).not.toContain(secret)
      return text
    }
    try {
      const [project] = JSON.parse(await ask('/api/projects/')).results
      secrets.push(JSON.parse(await ask('/api/personal_api_keys/', 'POST', { label: 'k', scopes: ['*'] })).value)
      secrets.push(JSON.parse(await ask(`/api/projects/${project.id}/secret_keys/`, 'POST', { label: 's' })).value)
      await ask('/api/login/', 'POST', { email: 'owner@halyard.local', password: 'not-my-password-7351' })
      await ask('/api/users/@me/', 'GET', undefined, 'phx_wrongwrongwrongwrongwrong')
      await ask('/api/users/@me/', 'PATCH', { password: 'not-my-password-7351', current_password: 5 })
      await ask('/api/login/', 'POST', { email: ['not-my-password-7351'], password: 'not-my-password-7351' })
      await ask('/flags/?v=2', 'POST', { api_key: secrets.at(-1), distinct_id: 'x' })
    } finally {
      await server.stop()
      await database.drop()
    }
    const welcome = server.lines.findIndex(line => line.includes('Welcome to Halyard'))
    const log = server.lines
      .filter((line, index) => welcome < 0 || index > welcome + 9 || line.startsWith('{'))
      .join('\n')
    expect(secrets.every(secret => typeof secret === 'string' && secret.length > 10)).toBe(true)
    for (const secret of secrets) expect(log.includes(secret), secret.slice(0, 8)).toBe(false)
  })

  it('reports weak settings', async () => {
    const { output, code } = await runCommand(['doctor', '--security'], {
      DATABASE_URL: 'postgres://halyard:halyard@db.example.com/halyard',
      HOST: '0.0.0.0',
      HALYARD_BOOTSTRAP_KEY: 'phx_aaaaaaaaaaaaaaaaaaaaaaaa',
      TRUST_PROXY: 'true',
      LOG_LEVEL: 'trace',
    })
    expect(code).toBe(1)
    for (const word of ['HALYARD_BOOTSTRAP_KEY', 'TRUST_PROXY', 'sslmode', 'HALYARD_SECRET_KEY', 'LOG_LEVEL'])
      expect(output).toContain(word)
  })
})
