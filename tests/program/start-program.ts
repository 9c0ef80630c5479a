import { createTestDatabase } from '../../packages/server/src/testing/databases.ts'
import { type RunningServer, visitServer } from '../../packages/server/src/testing/scenario.ts'
import { ownerKey, type ServerProcess, startServer } from '../faults/server-process.ts'

/** What `npm start` starts, as a process on its own database. */
export interface Program extends RunningServer {
  readonly process: ServerProcess
  readonly databaseUrl: string
  readonly owner: { readonly email: string; readonly password: string }
  /** Stops the process, which must end in order, and drops the database. */
  close(): Promise<void>
}

const owner = { email: 'owner@example.com', password: 'correct horse battery staple' }

export async function startProgram(
  dialect: 'sqlite' | 'postgres' = 'sqlite',
  environment: Record<string, string> = {},
  programPath?: string,
): Promise<Program> {
  const database = await createTestDatabase(dialect)
  const settings = {
    HALYARD_OWNER_EMAIL: owner.email,
    HALYARD_OWNER_PASSWORD: owner.password,
    // A busy machine must not trigger load shedding.
    HALYARD_LAG_MILLISECONDS_MAX: '0',
    ...environment,
  }
  const process = await startServer(database.url, settings, undefined, programPath)
  return {
    ...(await visitServer(process.url, ownerKey)),
    process,
    databaseUrl: database.url,
    owner,
    async close() {
      const code = await process.stop()
      await database.drop()
      if (code !== 0) throw new Error(`The program ended with ${code}:\n${process.lines.slice(-20).join('\n')}`)
    },
  }
}
