import { spawnSync } from 'node:child_process'
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openTemporaryFolder, removeAbandonedFolders } from './embedded-postgres.ts'

/** As the process with this id would have opened it. */
function openFolderOf(pid: number): string {
  const own = openTemporaryFolder('test')
  const folder = own.replace(`-${process.pid}-`, `-${pid}-`)
  renameSync(own, folder)
  return folder
}

it('removes folders of processes that ended, and neither of running ones nor of servers that outlived theirs', () => {
  const ended = spawnSync(process.execPath, ['--version']).pid
  const [own, abandoned, serving] = [openTemporaryFolder('test'), openFolderOf(ended), openFolderOf(ended)]
  writeFileSync(join(serving, 'postmaster.pid'), `${process.pid}\n${serving}\n`)
  try {
    removeAbandonedFolders()
    expect([own, abandoned, serving].map(existsSync)).toEqual([true, false, true])
  } finally {
    for (const folder of [own, serving]) rmSync(folder, { recursive: true })
  }
})
