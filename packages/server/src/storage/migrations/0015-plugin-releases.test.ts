import { expect, it } from 'vitest'
import { createTestDatabase, onEachDatabase } from '../../testing/databases.ts'
import { startScenario } from '../../testing/scenario.ts'
import { pluginReleases } from './0015-plugin-releases.ts'
import { releaseFiles } from './0016-release-files.ts'
import { type SchemaBuilder, schemaBuilder } from './migration.ts'

/** Undoes what the migrations added, so that they are applied to data as an older version left it. */
const undo = [
  'drop table plugin_acceptances',
  'drop table plugin_releases',
  'alter table plugins drop column files_digest',
]

onEachDatabase('the migration to plugin releases', dialect => {
  it('accepts what is used and masks secrets in old activity', async () => {
    const { url, drop } = await createTestDatabase(dialect)
    let s = await startScenario(dialect, { databaseUrl: url })
    const plugins = `${s.organization}/plugins/`
    const tenant = await s.stranger('tenant')
    const { id: plugin } = (await s.post(plugins, { is_global: true })).body
    const fields = [
      { key: 'token', type: 'string', secret: true },
      { key: 'old', type: 'string' },
      { key: 'host', type: 'string' },
    ]
    const manifest = (config: object[]) => ({ 'plugin.json': JSON.stringify({ name: 'p', config }) })
    const files = { ...manifest(fields), 'index.ts': 'export const onEvent = () => {}' }
    expect((await s.patch(`${plugins}${plugin}/update_source/`, files)).status).toBe(200)
    const values = { token: 'tenant-secret', old: 'x', host: 'h' }
    const made = await tenant.post(`${tenant.project}/plugin_configs/`, { plugin, config: values, enabled: true })
    const itemId = String(made.body.id)
    // The manifest of today has neither the secret nor the old setting.
    await s.patch(`${plugins}${plugin}/update_source/`, manifest([fields[2]!]))

    const db = s.halyard.storage.kysely
    const change = (field: string, before: string) => ({ action: 'changed', field, before, after: null })
    const leaked = {
      name: 'p',
      trigger: null,
      changes: [change('token', 'tenant-secret'), change('old', 'maybe-secret'), change('host', 'public')],
    }
    const entry = {
      organization_id: tenant.organization.split('/').at(-1)!,
      project_id: Number(tenant.project.split('/').at(-1)),
      scope: 'PluginConfig',
      activity: 'config_updated',
      user_id: null,
      key_label: null,
      detail: JSON.stringify(leaked),
      created_at: made.body.created_at,
    }
    const removed = { ...entry, item_id: '999999' }
    await db
      .insertInto('activity')
      .values([{ ...entry, item_id: itemId }, removed])
      .execute()
    const run = s.halyard.storage
    for (const statement of undo)
      await run.kysely.executeQuery({ sql: statement, parameters: [], query: { kind: 'RawNode' } } as never)
    const builder = schemaBuilder(run.kysely as unknown as SchemaBuilder['db'], dialect)
    for (const step of [pluginReleases, releaseFiles]) await step.up(builder)
    await s.close()

    s = await startScenario(dialect, { databaseUrl: url })
    const rows = await s.halyard.storage.kysely.selectFrom('activity').select(['item_id', 'detail']).execute()
    const texts = (id: string) =>
      rows
        .filter(row => row.item_id === id)
        .map(row => row.detail)
        .join('\n')
    expect(texts(itemId)).not.toMatch(/tenant-secret|maybe-secret/)
    expect(texts(itemId)).toContain('"before":"public"')
    expect(texts('999999')).not.toMatch(/tenant-secret|maybe-secret|public/)
    const used = await s.as(tenant.key).get(`${tenant.organization}/plugins/${plugin}/`)
    expect(used.body).toMatchObject({ update_available: false, accepted_release: used.body.release })
    // The source of what is used is known from now on.
    await s.patch(`${plugins}${plugin}/update_source/`, { 'index.ts': 'export const onEvent = () => 1' })
    const review = await s.as(tenant.key).get(`${tenant.organization}/plugins/${plugin}/release_changes/`)
    expect(review.body).toMatchObject({
      source_known: true,
      changes: [{ field: 'index.ts', before: files['index.ts'] }],
    })
    await s.close()
    await drop()
  }, 120_000)
})
