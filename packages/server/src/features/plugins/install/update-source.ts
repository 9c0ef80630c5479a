import { diffFields, type FieldChange } from '../../../domain/activity.ts'
import type { Instant } from '../../../instant.ts'
import { invalid } from '../../../problem.ts'
import type { Stores } from '../../../stores.ts'
import type { Actor, Organization } from '../../../tenancy.ts'
import { manifestName } from '../package/manifest.ts'
import { sourceFileBytesMax, sourceFilesMax } from '../package/plugin-package.ts'
import { applyPatch, contentOf, type Plugin, type PluginPatch } from '../plugin.ts'
import { getOwn, requireCanShare, requireCanWrite } from '../plugin-access.ts'
import { contentToWire } from '../plugin-resource.ts'
import { recordPlugin } from '../record-plugin.ts'
import { subscribeIfCapabilityAdded } from '../runtime/delivery/flag-delivery.ts'
import type { ReadyPackage } from './plugin-builder.ts'

type Files = ReadonlyMap<string, string>

const fileNameCharactersMax = 200
const fileName = /\.[A-Za-z0-9]+$/
const changeTextCharactersMax = 10_000

/** The file changes of a request: every key that is a file name is a file, null deletes it. Raises `invalid`. */
export function readFileChanges(body: Readonly<Record<string, unknown>>): ReadonlyMap<string, string | null> {
  const changes = new Map<string, string | null>()
  for (const [name, text] of Object.entries(body)) {
    if (fileName.test(name)) changes.set(checkFileName(name), checkText(name, text))
  }
  return changes
}

function checkFileName(name: string): string {
  const isPlain = /^[^/\\]+(\/[^/\\]+)*$/.test(name) && !name.split('/').some(part => part === '.' || part === '..')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
  if (!isPlain || name.length > fileNameCharactersMax || /[\u0000-\u001f]/.test(name) || !name.isWellFormed()) {
    throw invalid(name.slice(0, fileNameCharactersMax), 'invalid_input', 'A source file cannot have this name.')
  }
  return name
}

function checkText(name: string, text: unknown): string | null {
  if (text === null) return null
  if (typeof text !== 'string') throw invalid(name, 'invalid_input', `The file ${name} must be a string or null.`)
  if (Buffer.byteLength(text) > sourceFileBytesMax) {
    throw invalid(name, 'max_length', `The file ${name} is larger than ${sourceFileBytesMax} bytes.`)
  }
  if (text.includes('\u0000') || !text.isWellFormed()) {
    throw invalid(name, 'invalid_input', `The file ${name} contains characters that cannot be stored.`)
  }
  return text
}

export function applyFileChanges(files: Files, changes: ReadonlyMap<string, string | null>): Files {
  const next = new Map(files)
  for (const [name, text] of changes) {
    if (text === null) next.delete(name)
    else next.set(name, text)
  }
  if (next.size > sourceFilesMax) throw invalid(null, 'max_length', `A plugin has at most ${sourceFilesMax} files.`)
  return new Map([...next].sort(([a], [b]) => (a < b ? -1 : 1)))
}

export interface SourceUpdate {
  readonly pluginId: number
  /** The plugin as it was when the files were compiled. */
  readonly seen: Plugin
  readonly before: Files
  readonly ready: ReadyPackage
  readonly patch: PluginPatch
}

/**
 * Stores compiled files together with the plugin fields of the same request. A changed plugin.json decides name,
 * description, icon, settings and jobs; fields of the request have precedence. Returns undefined when another
 * request saved the plugin since the files were compiled: then they have to be compiled again. Raises as `updatePlugin`.
 */
export async function updateSource(
  tx: Stores,
  actor: Actor,
  organization: Organization,
  { pluginId, seen, before, ready, patch }: SourceUpdate,
  now: Instant,
): Promise<Plugin | undefined> {
  requireCanWrite(actor, organization)
  const stored = await getOwn(tx, organization, pluginId)
  if (patch.isGlobal !== undefined) requireCanShare(organization)
  if (stored.version !== seen.version) return undefined
  const fileChanges = diffFiles(before, ready.files)
  const hadCode = (await tx.plugins.findCode(pluginId)) !== undefined
  const content = applyPatch(applyPatch(contentOf(stored), fromFiles(before, ready, hadCode)), patch)
  const fieldChanges = diffFields({ ...contentToWire(contentOf(stored)) }, { ...contentToWire(content) })
  if (fileChanges.length === 0 && fieldChanges.length === 0) return stored
  const { allowedHosts } = ready.manifest
  const plugin: Plugin = { ...stored, ...content, allowedHosts, version: stored.version + 1, updatedAt: now }
  await tx.plugins.save(plugin)
  await subscribeIfCapabilityAdded(tx, stored, plugin, now)
  await tx.plugins.replaceFiles(plugin.id, ready.files, ready.code)
  const changes = [...fieldChanges, ...fileChanges]
  await recordPlugin(tx, actor, plugin, { activity: 'source_updated', changes }, now)
  return plugin
}

function fromFiles(before: Files, ready: ReadyPackage, hadCode: boolean): PluginPatch {
  if (before.size === ready.files.size && [...ready.files].every(([name, text]) => before.get(name) === text)) return {}
  const isManifestChanged = ready.files.get(manifestName) !== before.get(manifestName)
  // Removed code has no capabilities; those stored for a plugin that never had code stay.
  const nothing = hadCode && ready.code === undefined ? { capabilities: {} } : {}
  return { ...contentOfFiles(ready, isManifestChanged), ...nothing }
}

/** The plugin fields that edited files determine; fields that they omit are unchanged. */
export function contentOfFiles(ready: ReadyPackage, withManifest: boolean): PluginPatch {
  const { name, description, icon, configSchema, publicJobs } = ready.manifest
  const hasManifest = withManifest && Boolean(ready.files.get(manifestName))
  return {
    ...(hasManifest && { name, description, icon, configSchema, publicJobs }),
    ...(ready.code !== undefined && { capabilities: { ...ready.capabilities } }),
  }
}

/** The changed files. */
export function diffFiles(before: Files, after: Files): FieldChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort()
  return names
    .filter(name => before.get(name) !== after.get(name))
    .map(name => ({
      action: !before.has(name) ? 'created' : after.has(name) ? 'changed' : 'deleted',
      field: name,
      before: shorten(before.get(name)),
      after: shorten(after.get(name)),
    }))
}

/** Activity is for people, so large bundles are omitted. */
function shorten(text: string | undefined): string | null {
  if (text === undefined) return null
  return text.length > changeTextCharactersMax ? `${text.slice(0, changeTextCharactersMax)}…` : text
}
