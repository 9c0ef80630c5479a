import { closeSync, existsSync, fsyncSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { CommandError } from '../usage.ts'

/**
 * Makes a file that is there whole or not at all, whenever the power goes: it is written beside its place, made durable, and put there. What a
 * failure leaves is removed. Raises CommandError when the file is there already, or cannot be written.
 */
export async function writeWhole(target: string, write: (part: string) => void | Promise<void>): Promise<void> {
  const folder = dirname(resolve(target))
  if (existsSync(target)) throw new CommandError(`${target} exists already; name a new file.`)
  if (!existsSync(folder)) throw new CommandError(`There is no folder ${folder}.`)
  const part = `${target}.part`
  try {
    remove(part)
    await write(part)
    makeDurable(part)
    renameSync(part, target)
    makeDurable(folder)
  } catch (error) {
    remove(part)
    const advice = isDiskFull(error) ? 'Free some space, or name another place.' : 'Nothing was written.'
    throw new CommandError(`${target} could not be written: ${(error as Error).message}. ${advice}`, { cause: error })
  }
}

/** SQLite keeps a journal beside what it writes. */
const remove = (part: string): void => {
  for (const suffix of ['', '-journal']) rmSync(part + suffix, { force: true })
}

export function makeDurable(path: string): void {
  const file = openSync(path, 'r')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

export const isDiskFull = (error: unknown): boolean => {
  const { code, message } = error as { code?: unknown; message?: unknown }
  return code === 'ENOSPC' || code === 'EDQUOT' || code === '53100' || /disk is full/i.test(String(message))
}
