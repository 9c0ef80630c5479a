import { posix } from 'node:path'
import { invalid, type Problem } from '../../../problem.ts'
import { type ArchiveEntry, archiveFault } from './archive/archive-entry.ts'
import { checkSyntax, compileSource, isCodeFile } from './compile-source.ts'
import { type Manifest, manifestName, parseManifest } from './manifest.ts'

/** A plugin's files, understood and compiled, before any of its code has run. */
export interface PluginPackage {
  readonly manifest: Manifest
  /** The files that are stored and shown as the plugin's source. */
  readonly files: ReadonlyMap<string, string>
  /** Undefined for a plugin without server code. */
  readonly code: string | undefined
}

type Files = ReadonlyMap<string, string>

const usualMain = ['index.ts', 'index.js', 'index.tsx', 'index.jsx']
/** Code for the browser: stored and checked, but never run here. */
const browserFiles = ['frontend.tsx', 'site.ts']
export const sourceFileBytesMax = 1024 * 1024
export const sourceFilesMax = 200

/**
 * The plugin inside an unpacked archive: the folder of the shallowest plugin.json, or the one named. Of its files the
 * manifest, the code that runs and the code for the browser are kept. A main file that stands alone is kept as
 * `index.ts` whatever its name, as PostHog does it.
 */
export async function readPackage(
  entries: readonly ArchiveEntry[],
  folder: string | undefined,
  available: ReadonlySet<string>,
): Promise<PluginPackage> {
  const all = filesBelow(entries, findRoot(entries, folder))
  const manifest = await readManifest(all.get(manifestName)!)
  const main = findMain(all, manifest)
  const compiled = main ? await compileSource(all, main, available) : undefined
  const kept = new Map([[manifestName, all.get(manifestName)!]])
  for (const name of browserFiles) if (all.has(name)) kept.set(name, all.get(name)!)
  if (compiled?.fileNames.length === 1) kept.set('index.ts', all.get(main!)!)
  else for (const name of compiled?.fileNames ?? []) kept.set(name, all.get(name)!)
  for (const name of browserFiles) if (kept.has(name)) await checkSyntax(name, kept.get(name)!)
  return { manifest, files: kept, code: compiled?.code }
}

/** A plugin whose source was written in place: every code file has to compile. It may have no code and no manifest yet. */
export async function compileFiles(files: Files, available: ReadonlySet<string>): Promise<PluginPackage> {
  const manifest = await readManifest(files.get(manifestName) || '{}')
  const main = findMain(files, manifest, false)
  const compiled = main ? await compileSource(files, main, available) : undefined
  const rest = [...files].filter(([name]) => isCodeFile(name) && !compiled?.fileNames.includes(name))
  for (const [name, text] of rest) await checkSyntax(name, text)
  return { manifest, files, code: compiled?.code }
}

/** The compiler parses it first, because its errors have a line and column. */
async function readManifest(text: string): Promise<Manifest> {
  await checkSyntax(manifestName, text)
  return parseManifest(text)
}

function findRoot(entries: readonly ArchiveEntry[], folder: string | undefined): string {
  const manifests = entries.map(entry => entry.path).filter(path => posix.basename(path) === manifestName)
  const wanted =
    folder === undefined ? manifests : manifests.filter(path => withoutTop(path) === `${folder}/${manifestName}`)
  const [shallowest] = wanted.toSorted((a, b) => depth(a) - depth(b) || a.localeCompare(b))
  if (!shallowest) throw archiveFault('The plugin has no plugin.json.')
  return posix.dirname(shallowest)
}

const depth = (path: string): number => path.split('/').length

/** Archives of a repository have everything below one folder of changing name. */
const withoutTop = (path: string): string => path.slice(path.indexOf('/') + 1)

function filesBelow(entries: readonly ArchiveEntry[], root: string): Files {
  const prefix = root === '.' ? '' : `${root}/`
  const below = entries.filter(({ path }) => path.startsWith(prefix))
  const small = below.filter(({ bytes }) => bytes.byteLength <= sourceFileBytesMax)
  return new Map(small.map(({ path, bytes }) => [path.slice(prefix.length), Buffer.from(bytes).toString('utf8')]))
}

function findMain(files: Files, { main }: Manifest, isRequired = true): string | undefined {
  const named = main === undefined ? undefined : posix.normalize(main)
  const mainFile = [named, ...usualMain].find(name => name !== undefined && files.has(name))
  const mayBeAbsent = !isRequired || browserFiles.some(name => files.has(name))
  if (!mainFile && !mayBeAbsent) throw mainMissing(main)
  return mainFile
}

function mainMissing(main: string | undefined): Problem {
  return invalid(
    manifestName,
    'invalid_input',
    `The plugin has no file ${main ?? 'index.js or index.ts'} with its code.`,
  )
}
