/**
 * Mirrors flags into one JSON Lines file, sorted by key, with the fields in a fixed order. Two versions of the file differ
 * only in the flags that changed, so git shows the history. Changes are stored immediately and sent later by a job, so
 * that many changes become one commit.
 */

interface Change {
  key: string
  before: Flag | null
  after: Flag
}

type Flag = Record<string, unknown> & { key: string; deleted: boolean }

interface Meta {
  config: { target?: string; token?: string }
  storage: { get(key: string, fallback: unknown): Promise<unknown>; set(key: string, value: unknown): Promise<void> }
  jobs: Record<string, (payload: object) => { runNow(): Promise<void>; runIn(n: number, unit: string): Promise<void> }>
}

const left = ['created_at', 'analytics_dashboards', 'has_enriched_analytics', 'performed_rollback']

export async function onFlagChange({ before, after }: Change, { storage, jobs }: Meta): Promise<void> {
  const lines = (await storage.get('lines', {})) as Record<string, string>
  if (before && before.key !== after.key) delete lines[before.key]
  if (after.deleted) delete lines[after.key]
  else lines[after.key] = toLine(after)
  await storage.set('lines', lines)
  if (!(await storage.get('isPlanned', false))) {
    await storage.set('isPlanned', true)
    await jobs['Send now']!({}).runIn(10, 'seconds')
  }
}

export const jobs = {
  'Send now': async (_payload: object, { config, storage }: Meta): Promise<void> => {
    await storage.set('isPlanned', false)
    const file = toFile((await storage.get('lines', {})) as Record<string, string>)
    console.info(`flags.jsonl has ${file.split('\n').length - 1} flags`)
    if (!config.target) return
    const response = await fetch(config.target, {
      method: 'PUT',
      headers: { authorization: `Bearer ${config.token}`, 'content-type': 'application/jsonl' },
      body: file,
    })
    if (!response.ok) throw new RetryError(`${config.target} returned ${response.status}.`)
  },
}

const toFile = (lines: Record<string, string>): string =>
  Object.keys(lines)
    .sort()
    .map(key => `${lines[key]}\n`)
    .join('')

/** The key first, then the other fields by name, so that equal flags produce equal lines. */
function toLine(flag: Flag): string {
  const fields = Object.keys(flag)
    .filter(name => name !== 'key' && !left.includes(name))
    .sort()
  return JSON.stringify({ key: flag.key, ...Object.fromEntries(fields.map(name => [name, sorted(flag[name])])) })
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sorted(v)]),
  )
}
