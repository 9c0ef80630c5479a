import { allRoutes, type Route } from '@halyard/contract'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openStorage } from '../../packages/server/src/storage/open-storage.ts'
import { exportData } from '../../packages/server/src/storage/transfer/export-data.ts'
import { createTestDatabase, onEachDatabase, type TestDatabase } from '../../packages/server/src/testing/databases.ts'
import { type Client, clientOf } from '../../packages/server/src/testing/scenario.ts'
import { ownerKey, type ServerProcess, startServer } from '../faults/server-process.ts'

/** Typed by a person: none of these is ever shown again. */
const typed = {
  'a plugin setting': 'SEALED-setting-4711',
  'a former plugin setting': 'SEALED-former-4711',
  'a token of a private package': 'SEALED-package-4711',
  'a password': 'SEALED password 4711',
  'a wrong password': 'SEALED wrong password 4711',
}
/** Cells that a spreadsheet would read as formulas. */
const formulas = ['=1+1', '+1+1', '-1+1', '@SUM(A1)', '\t=1+1', '\r=1+1']

onEachDatabase('data that leaves the server', dialect => {
  let database: TestDatabase
  let server: ServerProcess
  let owner: Client
  let secrets: Readonly<Record<string, string>>
  let seeds: Readonly<Record<string, string>>

  beforeAll(async () => {
    database = await createTestDatabase(dialect)
    server = await startServer(database.url, { LOG_LEVEL: 'trace' })
    owner = clientOf(server.url, ownerKey)
    const [project] = (await owner.get('/api/projects/')).body.results
    const [projectPath, organization] = [`/api/projects/${project.id}`, `/api/organizations/${project.organization}`]
    const created = async (path: string, body: object) => {
      const reply = await owner.post(path, body)
      expect(reply.status, `${path} ${reply.text}`).toBe(201)
      return reply.body
    }
    const { id: plugin } = await created(`${organization}/plugins/`, { name: 'Sealed' })
    const declare = (fields: object[], source: string) =>
      owner.patch(`${organization}/plugins/${plugin}/update_source/`, {
        'plugin.json': JSON.stringify({ name: 'Sealed', config: fields }),
        'index.ts': source,
      })
    const field = (key: string, secret: boolean) => ({ key, type: 'string', secret })
    await declare([field('token', true), field('former', true)], 'export const onEvent = () => {}')
    const config = { token: typed['a plugin setting'], former: typed['a former plugin setting'] }
    const { id: configured } = await created(`${projectPath}/plugin_configs/`, { plugin, config, enabled: true })
    // The manifest forgets that one was secret; the code leaks it to its log and in its errors.
    const leaking = `export const beforeFlagSave = (_, { config }) => {
      console.log(config.former, config.token)
      throw new Error('no: ' + config.former + config.token)
    }`
    expect((await declare([field('token', true), field('former', false)], leaking)).status).toBe(200)
    const configPath = `${projectPath}/plugin_configs/${configured}/`
    expect((await owner.patch(configPath, { name: 'renamed', config: { token: '••••••••' } })).status).toBe(200)
    const rejected = await owner.post(`${projectPath}/feature_flags/`, { key: 'rejected' })
    expect(rejected.status).toBe(400)
    for (const secret of Object.values(typed)) expect(rejected.text).not.toContain(secret)
    expect((await owner.patch(configPath, { enabled: false })).status).toBe(200)

    const flag = await created(`${projectPath}/feature_flags/`, { key: 'seen', name: formulas[0], tags: formulas })
    for (const key of formulas.slice(0, 4)) await created(`${projectPath}/feature_flags/`, { key })
    const invite = await created(`${organization}/invites/`, { target_email: 'invited@example.com', level: 8 })
    // An open invitation is looked at, by its page and by its address.
    for (const path of [`/api/signup/${invite.token}/`, `${invite.signup_path}?x=1`, `${invite.signup_path}/x`])
      await owner.get(path, { accept: 'text/html' })
    const redeemed = await created(`${organization}/invites/`, { target_email: 'joined@example.com' })
    const password = typed['a password']
    const signedUp = await clientOf(server.url, undefined).post(`/api/signup/${redeemed.token}/`, {
      first_name: '=1+1',
      password,
    })
    const joined = clientOf(server.url, signedUp.body.api_key)
    const failures = [
      await joined.patch('/api/users/@me/', { email: 'x@example.com', current_password: typed['a wrong password'] }),
      await clientOf(server.url, undefined).post('/api/login/', {
        email: 'joined@example.com',
        password: typed['a wrong password'],
      }),
      await owner.post(`${organization}/plugins/install/`, {
        url: `http://127.0.0.1:1/package?private_token=${encodeURIComponent(typed['a token of a private package'])}`,
      }),
      await owner.post('/api/personal_api_keys/', { label: 5, scopes: [password] }),
    ]
    for (const { status, text } of failures) {
      expect([400, 401]).toContain(status)
      for (const secret of [typed['a wrong password'], typed['a token of a private package']])
        expect(text).not.toContain(secret)
    }
    const key = await created('/api/personal_api_keys/', { label: 'listed', scopes: ['*'] })
    const secretKey = await created(`${projectPath}/secret_keys/`, { label: 'listed' })
    const { id: cohort } = await created(`${projectPath}/cohorts/`, { name: '=1+1', is_static: true })
    secrets = {
      ...typed,
      'an invitation': invite.token,
      'a redeemed invitation': redeemed.token,
      'a sign-in': signedUp.body.api_key,
      'a personal API key': key.value,
      'a project secret key': secretKey.value,
      'the first key': ownerKey,
    }
    for (const secret of Object.values(secrets)) expect(secret?.length).toBeGreaterThan(10)
    seeds = {
      project_id: String(project.id),
      parent_lookup_organization_id: project.organization,
      feature_flags: String(flag.id),
      dashboards: String(flag.usage_dashboard),
      personal_api_keys: key.id,
      secret_keys: secretKey.id,
      plugins: String(plugin),
      plugin_configs: String(configured),
      cohorts: String(cohort),
      feature_flag_key: flag.key,
      versions: '1',
    }
  }, 120_000)
  afterAll(async () => {
    await server.stop()
    await database.drop()
  })

  const secretsIn = (text: string) => Object.keys(secrets).filter(name => text.includes(secrets[name]!))

  const pathOf = (route: Route): string =>
    `${route.path.replace(/:(\w+)/g, (_all, name: string) => {
      const noun = route.path.split(`/:${name}`)[0]!.split('/').at(-1)!
      return seeds[name] ?? seeds[noun] ?? '1'
    })}/`

  it('has no secret in any response, in /metrics or in the log', async () => {
    let read = 0
    for (const route of allRoutes) {
      if (route.method !== 'GET' || route.mediaType === 'text/event-stream') continue
      const reply = await owner.get(`${pathOf(route)}?limit=100`)
      if (reply.status === 200) read += 1
      expect(secretsIn(reply.text), `GET ${route.path}`).toEqual([])
    }
    expect(read).toBeGreaterThan(40)
    expect(secretsIn((await owner.get('/metrics')).text)).toEqual([])
    const welcome = server.lines.findIndex(line => line.includes('Welcome to Halyard'))
    const log = server.lines.filter((line, n) => welcome < 0 || n > welcome + 9 || line.startsWith('{')).join('\n')
    expect(log.length).toBeGreaterThan(1000)
    expect(secretsIn(log)).toEqual([])
  })

  it('has no secret in an export of everything or of a project', async () => {
    const storage = openStorage(database.url)
    try {
      for (const projectId of [undefined, Number(seeds.project_id)]) {
        let text = ''
        const rows = await exportData(
          storage,
          async line => {
            text += line
          },
          projectId,
        )
        expect(rows).toBeGreaterThan(10)
        expect(secretsIn(text)).toEqual([])
      }
    } finally {
      await storage.close()
    }
  })

  it('is never CSV, so that no cell can be a formula: lists stay JSON with the stored text', async () => {
    expect(allRoutes.filter(({ mediaType }) => mediaType?.includes('csv'))).toEqual([])
    for (const route of allRoutes) {
      if (route.method !== 'GET' || route.mediaType === 'text/event-stream') continue
      const reply = await owner.get(`${pathOf(route)}?format=csv`, { accept: 'text/csv' })
      expect(reply.headers.get('content-type') ?? '', route.path).not.toMatch(/csv|spreadsheet|excel/)
      expect(reply.headers.get('content-disposition'), route.path).toBeNull()
    }
    const flag = await owner.get(`/api/projects/${seeds.project_id}/feature_flags/${seeds.feature_flags}/`)
    expect(flag.body).toMatchObject({ name: formulas[0], tags: formulas })
  })
})
