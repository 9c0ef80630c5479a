import { lstat, open, stat } from 'node:fs/promises'
import { join } from 'node:path'
import {
  type CodeReferencesWrite,
  type CodeRepository,
  codePathCharactersMax,
  codeReferencesMax,
} from '@halyard/contract'
import { printJson, progress } from '../output.ts'
import { type RemoteOptions, readAll, withApi } from '../remote/api.ts'
import { CommandError, UsageError } from '../usage.ts'
import { findKeys, indexKeys, type KeyIndex } from './find-keys.ts'
import { askGit, listFiles, TooManyFiles } from './list-files.ts'

interface CodeReferencesOptions extends RemoteOptions {
  readonly repository: string
  readonly dir: string
  readonly branch?: string
  readonly commit?: string
  readonly project: string
  /** False uploads no source text. */
  readonly excerpts: boolean
  readonly dryRun?: boolean
  readonly json?: boolean
}

type Reference = CodeReferencesWrite['references'][number]

const fileBytesMax = 1024 * 1024
/** A flag that is named more often is found anyway. */
const referencesPerFlagMax = 100
const filesPerStep = 2000

/** `halyard code-refs`: scans a checkout for the keys of a project's flags, and uploads where they are. */
export const codeReferences = (options: CodeReferencesOptions): Promise<void> =>
  withApi(options, async api => {
    const { dir, repository, dryRun: isDryRun } = options
    if (!(await stat(dir).catch(() => undefined))?.isDirectory()) throw new UsageError(`--dir ${dir} is not a folder.`)
    const project = `/api/projects/${encodeURIComponent(options.project)}`
    const flags = [
      ...(await readAll<{ key: string }>(api, `${project}/feature_flags/?`)),
      ...(await readAll<{ key: string }>(api, `${project}/feature_flags/?archived=true&`)),
    ]
    const { references, files } = await scan(dir, indexKeys(flags.map(({ key }) => key)))
    const sent: CodeReferencesWrite = {
      repository,
      branch: options.branch ?? (await askGit(dir, 'branch', '--show-current')) ?? null,
      commit: options.commit ?? (await askGit(dir, 'rev-parse', 'HEAD')) ?? null,
      references: options.excerpts ? references : references.map(({ excerpt: _, ...reference }) => reference),
    }
    const uploaded: CodeRepository | undefined = isDryRun
      ? undefined
      : await api('PUT', `${project}/code_references/`, sent)
    if (options.json) return printJson({ ...sent, files, dry_run: isDryRun === true, uploaded: uploaded ?? null })
    for (const { flag_key, path, line } of references) console.log(`${path}:${line}  ${flag_key}`)
    const named = new Set(references.map(({ flag_key }) => flag_key))
    progress(`${references.length} references to ${named.size} of ${flags.length} flags in ${files} files.`)
    progress(isDryRun ? 'Nothing was uploaded.' : `Uploaded as ${repository}.`)
  })

async function scan(folder: string, keys: KeyIndex) {
  const references: Reference[] = []
  const perFlag = new Map<string, number>()
  let files = 0
  try {
    for await (const path of listFiles(folder)) {
      const text = path.length > codePathCharactersMax ? undefined : await readSource(join(folder, path))
      if (text === undefined) continue
      files += 1
      if (files % filesPerStep === 0) progress(`${files} files scanned.`)
      for (const { key, line, excerpt } of findKeys(text, keys)) {
        const count = (perFlag.get(key) ?? 0) + 1
        perFlag.set(key, count)
        if (count <= referencesPerFlagMax) references.push({ flag_key: key, path, line, excerpt })
      }
      if (references.length > codeReferencesMax) throw tooMany()
    }
  } catch (error) {
    if (error instanceof TooManyFiles) throw new CommandError(error.message)
    throw error
  }
  for (const [key, count] of perFlag) {
    if (count > referencesPerFlagMax)
      progress(`${key} is named ${count} times; the first ${referencesPerFlagMax} count.`)
  }
  return { references, files }
}

const tooMany = () =>
  new CommandError(
    `There are more than ${codeReferencesMax} references. Scan folders separately: --dir, with a --repository each.`,
  )

/** The text of a file; undefined for links, and for what is binary, too large or gone. */
async function readSource(path: string): Promise<string | undefined> {
  const stats = await lstat(path).catch(() => undefined)
  if (!stats?.isFile() || stats.size > fileBytesMax) return undefined
  const file = await open(path).catch(() => undefined)
  if (!file) return undefined
  try {
    // The file may have grown since.
    const { buffer, bytesRead } = await file.read(Buffer.alloc(stats.size), 0, stats.size, 0)
    const content = buffer.subarray(0, bytesRead)
    return content.includes(0) ? undefined : content.toString('utf8')
  } finally {
    await file.close()
  }
}
