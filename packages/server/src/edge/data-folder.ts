import { mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ExplainedError } from '../problem.ts'

/** The folder cannot be used; the message says why and what to do. */
export class DataFolderError extends ExplainedError {}

/** Creates and locks the folder: two edges in one folder would send each other's events. Returns a function that unlocks it. */
export async function takeDataFolder(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, 'lock')
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const holder = Number(await readFile(path, 'utf8').catch(() => ''))
    if (holder > 0 && holder !== process.pid && isAlive(holder)) {
      throw new DataFolderError(
        `The process ${holder} uses ${folder} already. Give each edge a folder of its own (--data).`,
      )
    }
    await rm(path, { force: true })
    const file = await open(path, 'wx', 0o600)
    await file.appendFile(String(process.pid))
    await file.close()
  } catch (error) {
    if (error instanceof DataFolderError) throw error
    throw new DataFolderError(
      `The folder ${folder} cannot be used: ${(error as Error).message}. Name another one (--data).`,
    )
  }
  return () => rm(path, { force: true })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as { code?: string }).code === 'EPERM'
  }
}
