import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { Migration } from './migration.ts'

/**
 * Organizations accept releases of other organizations' plugins: what they use today counts as accepted. And plugin
 * secrets that the activity shows in cleartext are masked.
 */
export const pluginReleases: Migration = {
  version: 15,
  name: 'plugin-releases',
  async up({ db, text, integer, run }) {
    await run("alter table plugins add column files_digest text not null default ''")
    await db.schema
      .createTable('plugin_releases')
      .addColumn('plugin_id', integer, c => c.notNull().references('plugins.id').onDelete('cascade'))
      .addColumn('digest', text, c => c.notNull())
      .addColumn('content', text, c => c.notNull())
      .addColumn('code', text)
      .addPrimaryKeyConstraint('plugin_releases_key', ['plugin_id', 'digest'])
      .execute()
    await db.schema
      .createTable('plugin_acceptances')
      .addColumn('organization_id', text, c => c.notNull().references('organizations.id').onDelete('cascade'))
      .addColumn('plugin_id', integer, c => c.notNull().references('plugins.id').onDelete('cascade'))
      .addColumn('digest', text, c => c.notNull())
      .addColumn('accepted_at', text, c => c.notNull())
      .addPrimaryKeyConstraint('plugin_acceptances_key', ['organization_id', 'plugin_id'])
      .execute()
    await run('create index plugin_acceptances_by_plugin on plugin_acceptances (plugin_id, digest)')
    await acceptWhatIsUsed(db)
    await maskSecretsInActivity(db)
  },
}

// biome-ignore lint/suspicious/noExplicitAny: a migration works on schemas that the types of today do not describe.
type AnyDatabase = Kysely<any>

const sha256 = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('hex')

async function acceptWhatIsUsed(db: AnyDatabase): Promise<void> {
  for (const plugin of await db.selectFrom('plugins').selectAll().execute()) {
    const files = await db.selectFrom('plugin_files').selectAll().where('plugin_id', '=', plugin.id).execute()
    const code = await db.selectFrom('plugin_code').select('code').where('plugin_id', '=', plugin.id).executeTakeFirst()
    const sorted = files.map(file => [file.name, file.source]).sort(([a], [b]) => (a < b ? -1 : 1))
    const filesDigest = sha256([sorted, code?.code ?? null])
    await db.updateTable('plugins').set({ files_digest: filesDigest }).where('id', '=', plugin.id).execute()

    const users = await db
      .selectFrom('plugin_configs')
      .innerJoin('projects', 'projects.id', 'plugin_configs.project_id')
      .select('projects.organization_id')
      .distinct()
      .where('plugin_configs.plugin_id', '=', plugin.id)
      .where('projects.organization_id', '!=', plugin.organization_id)
      .execute()
    if (users.length === 0) continue
    const [configSchema, capabilities, publicJobs, allowedHosts] = [
      plugin.config_schema,
      plugin.capabilities,
      plugin.public_jobs,
      plugin.allowed_hosts,
    ].map(json => JSON.parse(json))
    const digest = sha256([filesDigest, capabilities, configSchema, publicJobs, allowedHosts])
    const { name, description, icon, tag } = plugin
    const content = { name, description, icon, configSchema, tag, capabilities, publicJobs, allowedHosts }
    await db
      .insertInto('plugin_releases')
      .values({ plugin_id: plugin.id, digest, content: JSON.stringify(content), code: code?.code ?? null })
      .execute()
    for (const { organization_id } of users) {
      const accepted = { organization_id, plugin_id: plugin.id, digest, accepted_at: plugin.updated_at }
      await db.insertInto('plugin_acceptances').values(accepted).execute()
    }
  }
}

const secretMask = '••••••••'
/** Changes of a configuration that are not settings. */
const notSettings = new Set(['allowed_hosts', 'order'])
const entriesAtOnce = 500

interface FieldChange {
  readonly field: string | null
  readonly before: unknown
  readonly after: unknown
}

/** What is known of a plugin's settings. */
interface Evidence {
  /** Declared secret now, or in any version that the activity still shows. */
  readonly secret: Set<string>
  /** Declared now. */
  readonly declared: Set<string>
  /** A former declaration cannot be read any more, so every setting may have been secret. */
  isUncertain: boolean
}

/**
 * Masks the values of every setting that is or was secret. In doubt it masks: a setting that the plugin no longer has
 * is masked when the plugin ever had a secret.
 */
async function maskSecretsInActivity(db: AnyDatabase): Promise<void> {
  const configs = await db
    .selectFrom('plugin_configs')
    .innerJoin('plugins', 'plugins.id', 'plugin_configs.plugin_id')
    .select(['plugin_configs.id', 'plugin_configs.plugin_id', 'plugin_configs.config', 'plugin_configs.secrets'])
    .select('plugins.config_schema')
    .execute()
  const ofPlugins = new Map<unknown, Evidence>()
  for (const config of configs) {
    const evidence = ofPlugins.get(config.plugin_id) ?? (await readEvidence(db, config.plugin_id, config.config_schema))
    ofPlugins.set(config.plugin_id, evidence)
    const masked = Object.entries(JSON.parse(config.config)).filter(([, value]) => value === secretMask)
    const ownSecrets = new Set([...evidence.secret, ...masked.map(([key]) => key)])
    await maskEntries(db, String(config.id), ownSecrets, evidence, config.secrets !== null)
  }
  const entries = await db
    .selectFrom('activity')
    .select('item_id')
    .distinct()
    .where('scope', '=', 'PluginConfig')
    .execute()
  const present = new Set(configs.map(config => String(config.id)))
  for (const { item_id } of entries) {
    // Of a removed plugin nothing is known any more.
    const unknown: Evidence = { secret: new Set(), declared: new Set(), isUncertain: true }
    if (!present.has(item_id)) await maskEntries(db, item_id, unknown.secret, unknown, true)
  }
}

async function readEvidence(db: AnyDatabase, pluginId: unknown, schema: string): Promise<Evidence> {
  const evidence: Evidence = { secret: new Set(), declared: new Set(), isUncertain: false }
  const current = JSON.parse(schema)
  for (const key of Object.keys(current ?? {})) evidence.declared.add(key)
  collectSecrets(current, evidence.secret)
  await eachEntry(db, 'Plugin', String(pluginId), async ({ detail }) => {
    for (const { field, before, after } of changesOf(detail)) {
      for (const value of [before, after]) {
        if (field === 'config_schema') collectSecrets(value, evidence.secret)
        if (field === 'plugin.json' && typeof value === 'string') collectFromManifest(value, evidence)
      }
    }
  })
  return evidence
}

function collectFromManifest(text: string, evidence: Evidence): void {
  try {
    collectSecrets(JSON.parse(text)?.config, evidence.secret)
  } catch {
    // The activity cuts long texts.
    if (text.includes('"secret"')) evidence.isUncertain = true
  }
}

/** Fields by key, or a list of fields that have one. */
function collectSecrets(schema: unknown, secret: Set<string>): void {
  if (typeof schema !== 'object' || schema === null) return
  for (const [key, field] of Object.entries(schema)) {
    if (typeof field !== 'object' || field === null || field.secret !== true) continue
    secret.add(Array.isArray(schema) && typeof field.key === 'string' ? field.key : key)
  }
}

async function maskEntries(
  db: AnyDatabase,
  configId: string,
  secret: Set<string>,
  { declared, isUncertain }: Evidence,
  isSealed: boolean,
): Promise<void> {
  // A mask in any entry shows that the setting was secret at that time.
  await eachEntry(db, 'PluginConfig', configId, async ({ detail }) => {
    for (const { field, before, after } of changesOf(detail)) {
      const isMasked = [before, after].some(value => typeof value === 'string' && value.startsWith(secretMask))
      if (field !== null && isMasked) secret.add(field)
    }
  })
  const hasSecrets = isSealed || secret.size > 0 || isUncertain
  const isSecret = (field: string | null): boolean => {
    if (field === null || notSettings.has(field)) return false
    return secret.has(field) || (hasSecrets && (isUncertain || !declared.has(field)))
  }
  await eachEntry(db, 'PluginConfig', configId, async ({ id, activity, detail }) => {
    if (String(activity).startsWith('attachment_')) return
    const changes = changesOf(detail)
    const cleaned = changes.map(change =>
      isSecret(change.field) ? { ...change, before: mask(change.before), after: mask(change.after) } : change,
    )
    if (JSON.stringify(cleaned) === JSON.stringify(changes)) return
    const text = JSON.stringify({ ...detail, changes: cleaned })
    await db.updateTable('activity').set({ detail: text }).where('id', '=', id).execute()
  })
}

const mask = (value: unknown): unknown =>
  value === null || value === undefined || value === '' || String(value).startsWith(secretMask) ? value : secretMask

const changesOf = (detail: { changes?: readonly FieldChange[] }): readonly FieldChange[] => detail.changes ?? []

interface Entry {
  readonly id: unknown
  readonly activity: unknown
  readonly detail: { readonly changes?: readonly FieldChange[] }
}

async function eachEntry(
  db: AnyDatabase,
  scope: string,
  itemId: string,
  work: (entry: Entry) => Promise<void>,
): Promise<void> {
  for (let after = 0; ; ) {
    const rows = await db
      .selectFrom('activity')
      .select(['id', 'activity', 'detail'])
      .where('scope', '=', scope)
      .where('item_id', '=', itemId)
      .where('id', '>', after)
      .orderBy('id')
      .limit(entriesAtOnce)
      .execute()
    for (const row of rows) await work({ ...row, detail: JSON.parse(row.detail) } as Entry)
    if (rows.length < entriesAtOnce) return
    after = Number(rows.at(-1)!.id)
  }
}
