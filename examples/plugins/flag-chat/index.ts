/** Posts flag changes to a chat. Retries on 429 and 5xx; any other error is logged. */

interface Change {
  key: string
  action: string
  version: number
  changes: { field: string; before: unknown; after: unknown }[]
  user: { email: string; first_name: string } | null
}

interface Meta {
  config: { webhookUrl: string; only?: string }
}

export async function onFlagChange(change: Change, { config }: Meta): Promise<void> {
  if (!isWanted(change.key, config.only ?? '')) return
  const response = await fetch(config.webhookUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ text: describe(change) }),
  })
  if (response.status === 429 || response.status >= 500) throw new RetryError(`The chat returned ${response.status}.`)
  if (!response.ok) throw new Error(`The chat returned ${response.status}.`)
}

function isWanted(key: string, only: string): boolean {
  const beginnings = only
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')
  return beginnings.length === 0 || beginnings.some(beginning => key.startsWith(beginning))
}

function describe({ key, action, version, changes, user }: Change): string {
  const who = user ? `${user.first_name} (${user.email})` : 'Halyard'
  const lines = changes.map(({ field, before, after }) => `• ${field}: ${show(before)} → ${show(after)}`)
  return [`${who} ${action} the flag \`${key}\` (version ${version})`, ...lines].join('\n')
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}
