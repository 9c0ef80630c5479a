import { execFileSync } from 'node:child_process'
import { chownSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import pg from 'pg'
import { loadEmbeddedPostgres, openTemporaryFolder, type PostgresPrograms } from './embedded-postgres.ts'
import { freePort } from './free-port.ts'

export interface PostgresServer {
  readonly url: string
  /** Restarts on the same port with the same data. */
  restart(): Promise<void>
  /** Kills the server and deletes its data. */
  kill(): Promise<void>
  stop(): Promise<void>
  /** Starts a streaming standby named `copy` that connects through this URL. */
  startCopy(through: { readonly host: string; readonly port: number }): Promise<PostgresServer>
}

const credentials = { user: 'halyard', password: 'halyard' }

/** Starts a real PostgreSQL server from npm in a temporary folder. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const programs = shared(await loadEmbeddedPostgres())
  const folder = openTemporaryFolder('data')
  try {
    return await startIn(folder, settings, true, programs)
  } catch (error) {
    rmSync(folder, { recursive: true, force: true })
    programs.leave()
    // The package rejects with undefined when the server exits.
    const reason = error instanceof Error ? error.message.trim() : 'the server exited'
    throw new Error(`PostgreSQL does not start: ${reason}. Set TEST_DATABASE_URL to use a server of your own.`)
  }
}

interface SharedPrograms extends Pick<PostgresPrograms, 'EmbeddedPostgres'> {
  join(): void
  /** The last server removes them. */
  leave(): void
}

/** A server and its copies run the same programs, and end in any order. */
function shared({ EmbeddedPostgres, remove }: PostgresPrograms): SharedPrograms {
  let servers = 1
  return {
    EmbeddedPostgres,
    join() {
      servers += 1
    },
    leave() {
      servers -= 1
      if (servers === 0) remove()
    },
  }
}

async function startIn(
  folder: string,
  settings: readonly string[],
  isNew: boolean,
  programs: SharedPrograms,
): Promise<PostgresServer> {
  const port = await freePort()
  const postgres = new programs.EmbeddedPostgres({
    databaseDir: folder,
    port,
    ...credentials,
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    // Durability of PostgreSQL itself is not under test.
    postgresFlags: [
      'fsync=off',
      'full_page_writes=off',
      'max_connections=300',
      'shared_buffers=64MB',
      ...settings,
    ].flatMap(setting => ['-c', setting]),
    onLog: () => {},
    onError: message => process.stderr.write(`${message}\n`),
  })
  const url = `postgres://halyard:halyard@127.0.0.1:${port}/postgres`
  if (isNew) {
    await postgres.initialise()
    await postgres.start()
  } else {
    // The package waits until the server accepts writes.
    const ended = postgres.start()
    await Promise.race([ended, untilAnswering(url, true)])
  }
  const remove = () => {
    rmSync(folder, { recursive: true, force: true })
    programs.leave()
  }
  return {
    url,
    async restart() {
      await postgres.stop()
      await postgres.start()
    },
    async kill() {
      const [pid] = readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n')
      process.kill(Number(pid), 'SIGKILL')
      await untilAnswering(url, false)
      remove()
    },
    async stop() {
      await postgres.stop()
      remove()
    },
    async startCopy(through) {
      const copy = openTemporaryFolder('copy')
      await copyWhileRunning(url, folder, copy)
      const source = { ...credentials, ...through, application_name: 'copy' }
      const words = Object.entries(source).map(([name, value]) => `${name}=${value}`)
      programs.join()
      return startIn(copy, [...settings, `primary_conninfo=${words.join(' ')}`], false, programs)
    },
  }
}

/** Replaces `pg_basebackup`, which the package does not include. */
async function copyWhileRunning(url: string, from: string, to: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query("select pg_backup_start('copy', true)")
    // PostgreSQL requires the original owners and permissions.
    execFileSync('cp', ['-a', `${from}/.`, to])
    const { rows } = await client.query<{ labelfile: string }>('select labelfile from pg_backup_stop(false)')
    rmSync(join(to, 'postmaster.pid'), { force: true })
    const { uid, gid } = statSync(join(to, 'PG_VERSION'))
    for (const [name, text] of [
      ['backup_label', rows[0]?.labelfile ?? ''],
      ['standby.signal', ''],
    ] as const) {
      writeFileSync(join(to, name), text)
      chownSync(join(to, name), uid, gid)
    }
  } finally {
    await client.end()
  }
}

/** Polls until the server is up, or until it is down. */
async function untilAnswering(url: string, isWanted: boolean): Promise<void> {
  for (;;) {
    const client = new pg.Client({ connectionString: url })
    client.on('error', () => {})
    const isAnswering = await client.connect().then(
      () => true,
      () => false,
    )
    await client.end().catch(() => {})
    if (isAnswering === isWanted) return
    await wait(20)
  }
}
