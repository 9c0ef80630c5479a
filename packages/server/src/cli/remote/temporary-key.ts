import { announceIdentity } from '../../features/identity/announce-identity.ts'
import { storeNewKey } from '../../features/identity/create-key.ts'
import { instantOf, plusMilliseconds } from '../../instant.ts'
import type { Stores } from '../../stores.ts'
import { ownerLevel } from '../../tenancy.ts'
import { CommandError } from '../usage.ts'
import { withDatabase } from '../with-database.ts'

const temporaryKeyMilliseconds = 15 * 60 * 1000

/** Gives the first owner a key for as long as the work takes. */
export async function withTemporaryKey<T>(work: (key: string) => Promise<T>): Promise<T> {
  const created = await withDatabase(database =>
    database.transaction(async tx => {
      const userId = await firstOwner(tx)
      const now = instantOf(new Date())
      const { key, value } = await storeNewKey(
        tx,
        userId,
        {
          label: 'Command line, temporary',
          scopes: ['*'],
          projectIds: [],
          organizationIds: [],
          expiresAt: plusMilliseconds(now, temporaryKeyMilliseconds),
        },
        now,
      )
      return { userId, keyId: key.id, value }
    }),
  ).catch(error => {
    if (!(error instanceof CommandError)) throw error
    throw new CommandError(`Give a personal API key with --key or HALYARD_KEY. Without one: ${error.message}`)
  })
  try {
    return await work(created.value)
  } finally {
    await withDatabase(database =>
      database.transaction(async tx => {
        await tx.identity.removeKey(created.userId, created.keyId)
        await announceIdentity(tx, created.userId, instantOf(new Date()))
      }),
    )
  }
}

async function firstOwner(tx: Stores): Promise<number> {
  const project = await tx.projects.findFirst()
  const members = project && (await tx.organizations.listMembers(project.organizationId, { limit: 1000, offset: 0 }))
  const owner = members?.items.find(({ level }) => level === ownerLevel)
  if (!owner) throw new CommandError('There is no owner yet. Start Halyard once.')
  return owner.user.id
}
