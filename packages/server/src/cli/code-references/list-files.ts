import { spawn } from 'node:child_process'
import { opendir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'

/** Folders of dependencies and build results, where no version control system names them. */
const skipped = new Set(['.git', '.hg', '.svn', 'node_modules', 'vendor', 'dist', 'build', 'target', '.venv'])
const filesMax = 500_000

/** The files of a folder: those that Git tracks or would track, or all where it is no Git checkout. Paths are relative to it and use `/`. */
export async function* listFiles(folder: string): AsyncGenerator<string> {
  const source = (await isCheckout(folder)) ? gitFiles(folder) : walk(folder)
  let count = 0
  for await (const path of source) {
    if (++count > filesMax)
      throw new TooManyFiles(`There are more than ${filesMax} files. Scan a folder of it with --dir.`)
    yield path
  }
}

export class TooManyFiles extends Error {}

/** The first line that Git prints; undefined when it fails or is not installed. */
export async function askGit(folder: string, ...args: string[]): Promise<string | undefined> {
  let output = ''
  const isDone = await runGit(folder, args, text => {
    output += text
  })
  return isDone ? output.split('\n', 1)[0] : undefined
}

const isCheckout = async (folder: string): Promise<boolean> =>
  (await askGit(folder, 'rev-parse', '--is-inside-work-tree')) === 'true'

/** Resolves with false when Git fails or is not installed. */
const runGit = (folder: string, args: readonly string[], onText: (text: string) => void): Promise<boolean> =>
  new Promise(resolve => {
    const git = spawn('git', ['-C', folder, ...args], { stdio: ['ignore', 'pipe', 'ignore'] })
    git.once('error', () => resolve(false))
    git.once('close', code => resolve(code === 0))
    git.stdout.setEncoding('utf8').on('data', onText)
  })

async function* gitFiles(folder: string): AsyncGenerator<string> {
  const args = ['-C', folder, 'ls-files', '-z', '--cached', '--others', '--exclude-standard']
  const git = spawn('git', args, { stdio: ['ignore', 'pipe', 'ignore'] })
  let rest = ''
  for await (const text of git.stdout.setEncoding('utf8')) {
    const paths = (rest + text).split('\0')
    rest = paths.pop()!
    yield* paths
  }
}

async function* walk(root: string, folder = root): AsyncGenerator<string> {
  for await (const entry of await opendir(folder)) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) {
      if (!skipped.has(entry.name)) yield* walk(root, path)
    } else if (entry.isFile()) {
      yield relative(root, path).split(sep).join('/')
    }
  }
}
