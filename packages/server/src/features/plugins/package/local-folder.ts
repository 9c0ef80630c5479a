import { lstat, readdir, readFile, realpath } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { invalid, type Problem } from '../../../problem.ts'
import { type ArchiveEntry, archiveLimits, createArchiveTally } from './archive/archive-entry.ts'

const ignored = new Set(['node_modules', '.git'])

/**
 * The files of a plugin folder below the plugin directory, as if they had come in an archive. Links are not followed, so
 * nothing outside of the directory can be read. Raises `invalid` when there is no such folder.
 */
export async function readLocalFolder(directory: string, name: string): Promise<ArchiveEntry[]> {
  const [root, folder] = await Promise.all([realpath(directory), realpath(join(directory, name))]).catch(() => {
    throw notThere(name)
  })
  const path = relative(root, folder)
  if (path === '' || path === '..' || path.startsWith(`..${sep}`)) throw notThere(name)
  const entries: ArchiveEntry[] = []
  await collect(folder, '', entries, createArchiveTally(archiveLimits))
  return entries
}

async function collect(folder: string, prefix: string, entries: ArchiveEntry[], tally: (bytes: number) => void) {
  for (const name of (await readdir(folder)).toSorted()) {
    if (ignored.has(name)) continue
    const path = join(folder, name)
    const stats = await lstat(path)
    if (stats.isDirectory()) await collect(path, `${prefix}${name}/`, entries, tally)
    if (!stats.isFile()) continue
    tally(stats.size)
    entries.push({ path: prefix + name, bytes: await readFile(path) })
  }
}

function notThere(name: string): Problem {
  return invalid('url', 'lookup_failed', `There is no folder ${JSON.stringify(name)} in the plugin directory.`)
}
