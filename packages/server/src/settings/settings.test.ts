import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { ConfigError, readConfig, settingWarnings } from '../config.ts'
import { shownDatabase } from './database-url.ts'

const urlOf = (environment: Record<string, string>) => readConfig(environment).databaseUrl

describe('the database URL', () => {
  const user = userInfo().username

  it('comes from the variables of libpq when DATABASE_URL is unset', () => {
    expect(urlOf({})).toBe('sqlite:data/halyard.db')
    expect(urlOf({ PGHOST: 'db', PGPORT: '6000', PGUSER: 'me', PGPASSWORD: 'a/b#c@d', PGDATABASE: 'flags' })).toBe(
      'postgres://me:a%2Fb%23c%40d@db:6000/flags',
    )
    expect(urlOf({ PGHOST: 'db' })).toBe(`postgres://${user}@db/${user}`)
    expect(urlOf({ PGHOST: '::1', PGUSER: 'me' })).toBe('postgres://me@[::1]/me')
    expect(urlOf({ PGHOST: 'db', PGUSER: 'me', PGSSLMODE: 'require' })).toBe('postgres://me@db/me?sslmode=require')
  })

  it('takes what it lacks from the variables of libpq, and nothing else', () => {
    const environment = { PGPASSWORD: 'p/w', PGDATABASE: 'other', PGUSER: 'other', PGHOST: 'other' }
    expect(urlOf({ ...environment, DATABASE_URL: 'postgres://me@db/flags' })).toBe('postgres://me:p%2Fw@db/flags')
    expect(urlOf({ ...environment, DATABASE_URL: 'postgres://me:mine@db' })).toBe('postgres://me:mine@db/other')
    expect(urlOf({ ...environment, DATABASE_URL: 'sqlite:x.db' })).toBe('sqlite:x.db')
  })

  it('can use a Unix socket', () => {
    const url = new URL(urlOf({ PGHOST: '/run/postgresql', PGUSER: 'me', PGPASSWORD: 'a/b' }))
    expect([url.searchParams.get('host'), url.searchParams.get('user'), url.pathname]).toEqual([
      '/run/postgresql',
      'me',
      '/me',
    ])
  })

  it.each(['postgres://me:a/b@db/flags', 'postgres://me:a#b@db/flags', 'postgres://me:12/34@db/flags'])(
    'is refused with advice when the password is not encoded: %s',
    url => {
      expect(() => urlOf({ DATABASE_URL: url })).toThrow(
        /^DATABASE_URL is not a valid URL\. Percent-encode.*PGPASSWORD/,
      )
    },
  )

  it('is shown without its password', () => {
    expect(shownDatabase('postgres://me:secret@db:6000/flags')).toBe('PostgreSQL at db:6000/flags')
    expect(shownDatabase('sqlite:data/halyard.db')).toBe('sqlite:data/halyard.db')
  })
})

describe('secrets in files', () => {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-settings-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }

  it.each([
    ['HALYARD_OWNER_PASSWORD', 'ownerPassword', 'correct horse'],
    ['HALYARD_BOOTSTRAP_KEY', 'bootstrapKey', `phx_${'a'.repeat(30)}`],
    ['HALYARD_SECRET_KEY', 'secretKey', 'sixteen characters'],
    ['HALYARD_UPSTREAM_KEY', 'upstreamKey', 'phx_edge'],
    ['HALYARD_GITHUB_TOKEN', 'gitHubToken', 'gh'],
    ['DATABASE_URL', 'databaseUrl', 'postgres://me@db/flags'],
  ] as const)('%s_FILE', (variable, name, value) => {
    const path = file(variable, `${value}\n`)
    expect(readConfig({ [`${variable}_FILE`]: path })[name]).toBe(value)
    expect(() => readConfig({ [`${variable}_FILE`]: path, [variable]: value })).toThrow('are both set')
  })

  it('PGPASSWORD_FILE', () => {
    expect(urlOf({ PGHOST: 'db', PGUSER: 'me', PGPASSWORD_FILE: file('pg', 'p/w\n') })).toBe(
      'postgres://me:p%2Fw@db/me',
    )
  })

  it('names the variable of a file that cannot be read', () => {
    expect(() => readConfig({ HALYARD_SECRET_KEY_FILE: join(folder, 'missing') })).toThrow(
      /^HALYARD_SECRET_KEY_FILE cannot be read: ENOENT/,
    )
  })
})

describe('wrong settings', () => {
  it.each(['foo', '10.0.0.0/33', '1.2.3.4, nonsense', '10.0.0.1/8/8'])('TRUST_PROXY=%s is refused by name', value => {
    expect(() => readConfig({ TRUST_PROXY: value })).toThrow(/^TRUST_PROXY must be/)
  })

  it.each(['true', '2', '10.0.0.1', '10.0.0.0/8, ::1, loopback'])('TRUST_PROXY=%s is accepted', value => {
    expect(readConfig({ TRUST_PROXY: value })).toBeDefined()
  })

  it('are all named at once', () => {
    expect(() => readConfig({ PORT: 'x', LOG_FORMAT: 'y' })).toThrow(ConfigError)
    expect(() => readConfig({ PORT: 'x', LOG_FORMAT: 'y' })).toThrow(/LOG_FORMAT must be one of.*\n?/)
  })
})

describe('misspelt settings', () => {
  it.each([
    ['HALYARD_WORKER', 'HALYARD_WORKERS'],
    ['HALYARD_PUBLIC_ULR', 'HALYARD_PUBLIC_URL'],
    ['DATABSE_URL', 'DATABASE_URL'],
    ['LOG_LEVL', 'LOG_LEVEL'],
    ['TRUST_PROXIES', undefined],
    ['HALYARD_NONSENSE_HERE', undefined],
  ])('%s', (name, suggestion) => {
    const expected = suggestion
      ? [`${name} is not a setting. Did you mean ${suggestion}?`]
      : name.startsWith('HALYARD_')
        ? [`${name} is not a setting and is ignored.`]
        : []
    expect(settingWarnings({ [name]: 'x' }).map(({ message }) => message)).toEqual(expected)
  })

  it('warn that TRUST_PROXY=true trusts what clients write', () => {
    const unsafe = [{ event: 'unsafe_setting', message: expect.stringContaining('TRUST_PROXY is true') }]
    expect(settingWarnings({ TRUST_PROXY: 'true' })).toEqual(unsafe)
    for (const value of ['false', '1', '10.0.0.0/8']) expect(settingWarnings({ TRUST_PROXY: value })).toEqual([])
  })

  it('are not confused with what the shell, Kubernetes and the welcome message set', () => {
    const names = [
      'PATH',
      'HOSTNAME',
      'PGPASSWORD_FILE',
      'DATABASE_URL_FILE',
      'HALYARD_URL',
      'HALYARD_KEY',
      'HALYARD_PORT',
      'HALYARD_SERVICE_HOST',
      'HALYARD_SERVICE_PORT_HTTP',
      'HALYARD_PORT_8000_TCP_ADDR',
      'HALYARD_EDGE_SERVICE_PORT',
    ]
    expect(settingWarnings(Object.fromEntries(names.map(name => [name, 'x'])))).toEqual([])
  })
})
