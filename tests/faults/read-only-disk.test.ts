import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { clientOf, startScenario } from '../../packages/server/src/testing/scenario.ts'
import { ownerKey, startServer } from './server-process.ts'

const run = (command: string, ...args: string[]): string => execFileSync(command, args, { encoding: 'utf8' }).trim()

interface Disk {
  readonly path: string
  /** What Linux does with a disk that fails: its file system becomes read-only, also for files that are open. */
  fail(): void
  /** Checks the file system and makes it writable again. No file may be open. */
  repair(): void
  remove(): void
}

/** An ext4 file system of its own. Undefined where this user may not mount one, or where the kernel has no such fault. */
function createDisk(): Disk | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'halyard-disk-'))
  const [image, path] = [join(folder, 'image'), join(folder, 'mounted')]
  const mount = () => run('mount', '-o', 'loop,errors=remount-ro', image, path)
  const trigger = () => `/sys/fs/ext4/${basename(run('findmnt', '-no', 'SOURCE', path))}/trigger_fs_error`
  const disk: Disk = {
    path,
    fail: () => writeFileSync(trigger(), '1'),
    repair() {
      run('umount', path)
      // 1 means that errors were corrected.
      run('sh', '-c', `e2fsck -fy ${image} || [ $? -le 1 ]`)
      mount()
    },
    remove() {
      run('umount', path)
      rmSync(folder, { recursive: true })
    },
  }
  mkdirSync(path)
  writeFileSync(image, '')
  truncateSync(image, 64 * 1024 * 1024)
  try {
    run('mkfs.ext4', '-qF', image)
    mount()
  } catch {
    rmSync(folder, { recursive: true })
    return undefined
  }
  if (existsSync(trigger())) return disk
  disk.remove()
  return undefined
}

describe('a node on SQLite', () => {
  const disk = createDisk()

  it.runIf(disk)('(as root on Linux) whose disk becomes read-only is not ready, says so, and evaluates', async () => {
    const { path, fail, repair, remove } = disk!
    const url = `sqlite:${join(path, 'halyard.db')}`
    let server = await startServer(url)
    try {
      const client = clientOf(server.url, ownerKey)
      const [project] = (await client.get('/api/projects/')).body.results
      const flags = `/api/projects/${project.id}/feature_flags/`
      expect((await client.post(flags, { key: 'before' })).status).toBe(201)
      fail()
      const refused = await client.post(flags, { key: 'after' })
      expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
        503,
        'disk_error',
        'The disk of the database fails; nothing was changed. Check the disk.',
      ])
      const unready = await client.get('/_readyz')
      expect(unready.status).toBe(503)
      expect(unready.body).toMatchObject({ status: 'not ready', writes: 'unavailable', evaluation: 'ok' })
      expect(unready.body.disk).toBe('failing')
      expect((await client.get('/_readyz?for=evaluation')).status).toBe(200)
      const evaluated = await client.post('/flags/?v=2', { token: project.api_token, distinct_id: 'user' })
      expect(Object.keys(evaluated.body.flags)).toEqual(['before'])
      expect(await server.stop()).toBe(0)

      repair()
      server = await startServer(url)
      const restarted = clientOf(server.url, ownerKey)
      const { results } = (await restarted.get(flags)).body
      expect(results.map(({ key }: { key: string }) => key)).toEqual(['before'])
      expect((await restarted.post(flags, { key: 'after' })).status).toBe(201)
    } finally {
      await server.stop()
      remove()
    }
  })

  // Where no disk can be mounted, only SQLite itself can refuse to write.
  it('whose connection is read-only is not ready until a write succeeds', async () => {
    const s = await startScenario('sqlite')
    try {
      const { handle } = s.halyard.storage.sqlite!
      handle.exec('pragma query_only = on')
      const refused = await s.post(`${s.project}/feature_flags/`, { key: 'refused' })
      expect([refused.status, refused.body.code, refused.body.detail]).toEqual([
        503,
        'read_only',
        'The database is read-only; nothing was changed. Make its disk writable.',
      ])
      const unready = await s.get('/_readyz')
      expect([unready.status, unready.body.disk]).toEqual([503, 'read-only'])
      handle.exec('pragma query_only = off')
      expect((await s.post(`${s.project}/feature_flags/`, { key: 'stored' })).status).toBe(201)
      expect((await s.get('/_readyz')).status).toBe(200)
    } finally {
      await s.close()
    }
  })
})
